import { type Milliseconds, type ObjectKey, oneLine, rolledOutCondition } from "@drover/controller";
import { type KubeClient, type KubeObject, type ResourceRef } from "@drover/kube";
import { setTimeout as delay } from "node:timers/promises";
import { CommandError } from "../command-error.ts";
import { conditionOf, isStatusCurrent, type ObjectCondition } from "../object-conditions.ts";
import { pollInterval } from "../waiting/wait-until.ts";

/** Reasons that do not resolve by themselves. */
const lastingReasons: readonly string[] = [
  ...["InvalidSpec", "PermissionNotHeld", "AuthorsUnguarded", "NameTaken", "NotInUse", "ImageNotPulled"],
];

/**
 * Waits until a function is Ready for its current spec and, if it has a container, a Pod of that version has been Ready
 * and all older Pods are gone. A paused function counts as rolled out: it is Ready, and RolledOut is Unknown.
 *
 * @param onProgress called with the reason for waiting, whenever it changes.
 * @returns its Ready condition.
 * @throws CommandError with the reason, if it does not resolve by itself, or the time is over.
 */
export async function waitForRollout(
  { client, ref, key }: { readonly client: KubeClient; readonly ref: ResourceRef; readonly key: ObjectKey },
  within: Milliseconds,
  onProgress: (words: string) => void,
): Promise<ObjectCondition> {
  const end = performance.now() + within;
  let printed = "";
  for (;;) {
    const object = await client.get(ref, key);
    if (object === undefined) throw new CommandError(`${key} was deleted while it was waited for.`);
    const ready = isStatusCurrent(object) ? conditionOf(object) : undefined;
    const rollout = conditionOf(object, rolledOutCondition);
    if (ready?.status === "True" && rollout?.status !== "False") return ready;
    const missing = ready?.status === "True" ? rollout : ready;
    const final = ready && [missing, rollout].find((one) => lastingReasons.includes(one?.reason ?? ""));
    const words = describeCondition(final ?? missing);
    if (final !== undefined || performance.now() >= end) throw notRolledOut(object, key, words);
    if (missing !== undefined && words !== printed) onProgress((printed = words));
    await delay(pollInterval);
  }
}

const describeCondition = (condition: ObjectCondition | undefined): string =>
  condition === undefined
    ? "the deployer has not processed it since it was written"
    : oneLine(`${condition.reason}: ${condition.message}`);

function notRolledOut(object: KubeObject, key: ObjectKey, words: string): CommandError {
  const ready = conditionOf(object);
  const state = ready?.status === "True" && isStatusCurrent(object) ? "not rolled out" : "not Ready";
  const hint =
    ready === undefined
      ? " Does Drover's deployer run in this cluster?"
      : state === "not Ready"
        ? ""
        : " Pods of the previous version keep running.";
  return new CommandError(`${key} is ${state}: ${words}${words.endsWith(".") ? "" : "."}${hint}`);
}
