import type { Command } from "commander";
import type { WorkQueue } from "@drover/queue";
import type { OperatorTarget } from "./target.ts";
import { targetCommand } from "./target-command.ts";

export const retryCommand = (): Command =>
  targetCommand({
    name: "retry",
    summary: "run objects now that failed, are parked, or wait",
    description:
      "Run an object now, whatever it waits for; with --in or --all: the objects that are parked or failed. An object that is " +
      "paused runs once it is resumed, and one with a throttled account once that time is over.",
    objects: "all parked and failed objects",
    act,
  });

async function act(queue: WorkQueue, target: OperatorTarget): Promise<string> {
  const [{ retryAll, retryKey }, { rejectAbsent: refuseAbsent }, { describePauses: pauseWords }] =
    await Promise.all([import("./retry.ts"), import("./target.ts"), import("../describe-pauses.ts")]);
  const { scope, description } = target;
  if (scope.kind !== "object") {
    await refuseAbsent(target);
    const namespace = scope.kind === "namespace" ? scope.namespace : undefined;
    const { keys, paused } = await retryAll(queue, namespace);
    if (keys === 0) return `None is parked or has failed: ${description}.`;
    const held = paused === 0 ? "" : ` ${paused} of them are paused, and run once they are resumed.`;
    return `Retried ${keys}: ${description} that were parked or had failed.${held}`;
  }
  await refuseAbsent(target);
  const report = await retryKey(queue, scope.key);
  if (report.pauses.length > 0) {
    const { now } = await queue.notRunSince([], 0);
    return `${description} is due, but ${pauseWords(target.fn, scope.key, report.pauses, now)}.`;
  }
  if (report.state === "leased") return `${description} runs now, and runs once more when that has ended.`;
  return `${description} is due now.`;
}
