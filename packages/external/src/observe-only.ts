import { readyCondition } from "@drover/controller";
import { differenceCondition, settingDifferences } from "./differences.ts";
import {
  accountOf,
  type ExternalResult,
  outputsAfter,
  settingCondition,
  settingConditions,
} from "./external-outcome.ts";
import type { PresentResource } from "./external-port.ts";
import { type ExternalRun, titleOf } from "./external-run.ts";
import { writeOutputs } from "./outputs.ts";
import { planSettings } from "./settings/plan-settings.ts";

/** A run with `manage: ObserveOnly`: reports the state of the resource, also of another owner's, and writes nothing to it. */
export async function observeOnly<Seen extends PresentResource, Details extends object>(
  run: ExternalRun<Seen, Details>,
): Promise<ExternalResult<Details>> {
  const { context, port } = run;
  const seen = await port.observe(port.name);
  if (seen.state === "denied") throw seen.error;
  // The record of an earlier spec with `manage: Full` is needed again if the spec returns to that.
  const { adopted, createdAt, creating, written } = context.status;
  const managed = {
    ...(adopted !== undefined && { adopted }),
    ...(createdAt !== undefined && { createdAt }),
    ...(creating !== undefined && { creating }),
    ...(written !== undefined && { written }),
  };
  const rest = { requeueAfter: context.spec.pollInterval, ...accountOf(run) };
  if (seen.state === "absent") {
    const message = `${titleOf(run, port.name)} does not exist. With manage: ObserveOnly it is not created.`;
    return {
      status: { ...managed, ...(context.status.outputs && { outputs: context.status.outputs }) },
      ...rest,
      conditions: [{ type: readyCondition, status: "False", reason: "Absent", message }],
    };
  }
  const plans = await planSettings(port.settings(seen), {});
  const differences = settingDifferences(plans);
  const then = "With manage: ObserveOnly it is not changed.";
  const outputs = await writeOutputs(run, port.outputs(seen));
  return {
    status: { ...port.details(seen), ...managed, ...outputsAfter(run, outputs) },
    ...rest,
    conditions: [
      ...(differences.size === 0
        ? []
        : [differenceCondition(run, seen.name, differences, { reason: "Drifted", then })]),
      ...settingConditions(plans),
      ...outputs.map(({ setting, refusal }) => settingCondition(setting, refusal)),
    ],
  };
}
