import { type Condition, readyCondition, type Duration } from "@drover/controller";
import type { PresentResource } from "./external-port.ts";
import { capitalized, type ExternalRun, titleOf } from "./external-run.ts";
import type { ExternalStatus } from "./external-spec.ts";
import type { Claim } from "./ownership/claim-resource.ts";
import type { SettingReport } from "./settings/apply-settings.ts";
import type { SettingPlan, WrittenItems } from "./settings/plan-settings.ts";
import type { SettingRefusal } from "./settings/setting.ts";

/** The result of a run, for `reconcile`. */
export interface ExternalResult<Details extends object> {
  /** Without the details if the resource does not exist. */
  readonly status: ExternalStatus | (ExternalStatus & Details);
  readonly requeueAfter: Duration;
  readonly account?: string;
  readonly conditions: readonly Condition[];
}

const lookAgain: Duration = "5s";

/** The result of a run that has brought a resource as close to its spec as the server can. */
export async function externalOutcome<Seen extends PresentResource, Details extends object>(
  run: ExternalRun<Seen, Details>,
  seen: Seen,
  claim: Claim,
  {
    reports,
    record,
    isSettling,
  }: {
    readonly reports: readonly SettingReport[];
    readonly record: SettingsRecord;
    readonly isSettling: boolean;
  },
): Promise<ExternalResult<Details>> {
  const { context, port } = run;
  const pending = port.pending?.(seen);
  const createdAt = claim.createdAt ?? (await creationOf(run, seen.name));
  return {
    status: { ...statusOf(run, seen, { claim, createdAt, record }), ...outputsAfter(run, reports) },
    requeueAfter: isSettling || pending !== undefined ? lookAgain : context.spec.pollInterval,
    ...accountOf(run),
    conditions: conditionsOf(run, reports, pending),
  };
}

/** The status of an object that has a resource. */
export const statusOf = <Seen extends PresentResource, Details extends object>(
  { port }: ExternalRun<Seen, Details>,
  seen: Seen,
  { claim, createdAt, record }: { claim: Claim; createdAt: string | undefined; record: SettingsRecord },
): ExternalStatus & Details => ({
  ...port.details(seen),
  adopted: claim.adopted,
  ...(createdAt !== undefined && { createdAt }),
  ...recordOf(record),
});

/** The part of the status about the settings. */
export interface SettingsRecord {
  readonly written: WrittenItems;
  readonly refused: readonly string[];
}

export const recordOf = ({
  written,
  refused,
}: SettingsRecord): Pick<ExternalStatus, "written" | "refused"> => ({
  ...(Object.keys(written).length > 0 && { written }),
  ...(refused.length > 0 && { refused: [...refused] }),
});

/** The object that has the outputs now. One that could not be deleted yet stays recorded. */
export function outputsAfter(
  { context: { spec, status } }: ExternalRun<PresentResource>,
  reports: readonly SettingReport[],
): Pick<ExternalStatus, "outputs"> {
  const { refusal } = reports.find(({ setting }) => setting === "outputs") ?? {};
  const outputs = refusal === undefined ? spec.outputs : status.outputs;
  return outputs === undefined ? {} : { outputs };
}

/** For the result of a run: the account that it used. */
export const accountOf = ({ port: { account } }: ExternalRun<PresentResource>) =>
  account === undefined ? {} : { account };

/** Looks up the time of creation once for each resource. It identifies the resource if its owner tag is removed. */
async function creationOf(
  { recorded, port }: ExternalRun<PresentResource>,
  name: string,
): Promise<string | undefined> {
  const known = recorded.name === name && recorded.creating === undefined;
  if (known && recorded.createdAt !== undefined) return recorded.createdAt;
  const listing = await port.listing(name);
  return listing.state === "listed" ? listing.createdAt.toISOString() : undefined;
}

/**
 * A setting that the server refuses gets a condition of its own, and the object is not Ready, because the resource is
 * not as the spec asks. This is not an error: the rest is done, and every poll tries the setting again.
 */
function conditionsOf(
  run: ExternalRun<PresentResource>,
  reports: readonly SettingReport[],
  pending: { readonly reason: string; readonly message: string } | undefined,
): readonly Condition[] {
  const settings = reports.map(({ setting, refusal }) => settingCondition(setting, refusal));
  const refused = settings.filter(({ status }) => status === "False");
  const [first] = refused;
  if (first === undefined) {
    return pending === undefined
      ? settings
      : [{ type: readyCondition, status: "Unknown", ...pending }, ...settings];
  }
  const fields = reports
    .filter(({ refusal }) => refusal !== undefined)
    .map(({ setting }) => `spec.${setting}`);
  const message =
    `${titleOf(run, run.port.name)} is not as ${fields.join(" and ")} asks. ` +
    refused.map((condition) => condition.message).join(" ");
  return [{ type: readyCondition, status: "False", reason: first.reason, message }, ...settings];
}

/** The conditions of settings that were only read. */
export const settingConditions = (plans: readonly SettingPlan[]): readonly Condition[] =>
  plans.map((plan) => {
    if (plan.refusal !== undefined || plan.change === undefined) {
      return settingCondition(plan.setting.name, plan.refusal);
    }
    const message = `${[...plan.differences.values()].join("; ")}.`;
    return { type: capitalized(plan.setting.name), status: "False", reason: "Drifted", message };
  });

export function settingCondition(setting: string, refusal: SettingRefusal | undefined): Condition {
  const type = capitalized(setting);
  return refusal === undefined
    ? { type, status: "True", reason: "Applied", message: `${type} is as the spec asks.` }
    : { type, status: "False", reason: refusal.reason, message: refusal.message };
}
