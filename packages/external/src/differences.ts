import { type Condition, readyCondition } from "@drover/controller";
import type { PresentResource } from "./external-port.ts";
import { type ExternalRun, titleOf } from "./external-run.ts";
import { ownerTags } from "./ownership/ownership.ts";
import { mergedTags, sameTags, type Tags } from "./ownership/tags.ts";
import type { SettingPlan } from "./settings/plan-settings.ts";

/** For each path at which a resource is not as the spec asks, the difference as part of a sentence. */
export type Differences = ReadonlyMap<string, string>;

export const settingDifferences = (plans: readonly SettingPlan[]): Differences =>
  new Map(plans.flatMap((plan) => (plan.refusal === undefined ? [...plan.differences] : [])));

/** The difference in the tags that the spec names. */
export function tagDifferences(run: ExternalRun<PresentResource>, tags: Tags): Differences {
  const wanted = wantedTags(run, tags);
  if (sameTags(tags, wanted)) return new Map();
  const keys = [...new Set([...tags.keys(), ...wanted.keys()])].filter(
    (key) => tags.get(key) !== wanted.get(key),
  );
  return new Map([
    ["tags", `${keys.length === 1 ? "tag" : "tags"} ${keys.join(" and ")} differ from the spec`],
  ]);
}

/** The complete set of tags that the resource should have. */
export const wantedTags = ({ context, owner }: ExternalRun<PresentResource>, current: Tags): Tags =>
  mergedTags(current, context.spec.tags, ownerTags(owner));

const maxShown = 5;

/** The condition Ready of an object with a resource that differs from the spec. */
export function differenceCondition(
  run: ExternalRun<PresentResource>,
  name: string,
  differences: Differences,
  { reason, then }: { readonly reason: string; readonly then: string },
): Condition {
  const shown = [...differences.values()].slice(0, maxShown).join("; ");
  const more = differences.size > maxShown ? `; and ${differences.size - maxShown} more` : "";
  return {
    type: readyCondition,
    status: "False",
    reason,
    message: `${titleOf(run, name)} differs from its spec: ${shown}${more}. ${then}`,
  };
}
