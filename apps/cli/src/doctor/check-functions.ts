import type { Milliseconds } from "@drover/controller";
import { rolledOutCondition } from "@drover/controller";
import type { DeployedFunction } from "../deployed-functions.ts";
import { conditionOf, isStatusCurrent, type ObjectCondition } from "../object-conditions.ts";
import { shortDuration } from "../short-duration.ts";
import type { Finding } from "./finding.ts";

/** Reasons of Ready=False in ordinary operation. */
const passingReasons: readonly string[] = ["Deploying", "ScaledToZero", "Paused", "OldObjectExists"];
/** After this time a deletion counts as stuck. */
export const stuckAfter: Milliseconds = 300_000;

/** Reports from the status of a function that it is not used, does not run, is not rolled out, or is degraded. */
export function checkFunction({ key, object, status }: DeployedFunction, now: number): readonly Finding[] {
  const subject = `function ${key}`;
  const next = `drover why rf/${key.slice(key.indexOf("/") + 1)} -n ${key.slice(0, key.indexOf("/"))}`;
  const { deletionTimestamp } = object.metadata;
  const ready = conditionOf(object);
  if (deletionTimestamp !== undefined) {
    const since = now - Date.parse(deletionTimestamp);
    if (since < stuckAfter) return [];
    const why = ready === undefined ? "" : ` ${describe(ready)}`;
    const message = `is being deleted since ${shortDuration(since)}.${why}`;
    return [{ level: "problem", subject, message, next }];
  }
  if (ready === undefined || !isStatusCurrent(object)) {
    const message = "The deployer has not processed it since it was written.";
    return [{ level: "warning", subject, message, next }];
  }
  const rolledOut = conditionOf(object, rolledOutCondition);
  const found = [
    ...(status.problem === undefined
      ? []
      : [{ level: "problem", message: `The bridge does not use it. ${status.problem}` } as const]),
    ...(ready.status === "True" || passingReasons.includes(ready.reason) ? [] : [problem(ready)]),
    ...(rolledOut?.status === "False" ? [warning(rolledOut)] : []),
    ...degradations(object).map(warning),
  ].map((one): Finding => ({ ...one, subject, next }));
  return found.length > 0 ? found : [{ level: "ok", subject, message: describe(ready) }];
}

const degradations = (object: DeployedFunction["object"]): readonly ObjectCondition[] => {
  const degraded = conditionOf(object, "Degraded");
  return degraded?.status === "True" ? [degraded] : [];
};
const describe = ({ reason, message }: ObjectCondition): string => `${reason}: ${message}`;
const problem = (one: ObjectCondition) => ({ level: "problem", message: describe(one) }) as const;
const warning = (one: ObjectCondition) => ({ level: "warning", message: describe(one) }) as const;
