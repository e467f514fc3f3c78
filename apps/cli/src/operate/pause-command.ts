import type { Command } from "commander";
import type { WorkQueue } from "@drover/queue";
import { CommandError } from "../command-error.ts";
import type { OperatorTarget } from "./target.ts";
import { targetCommand } from "./target-command.ts";

export const pauseCommand = (): Command =>
  targetCommand({
    name: "pause",
    summary: "start no more runs of objects; what is due stays due",
    description:
      "Start no more runs of an object, of a function's objects in a namespace, or of all its objects. What is due stays due, " +
      "and a deletion waits, too. The pause is in Redis, and lost with its data: one that is to last is the annotation " +
      'drover.dev/paused: "true" of the object, or spec.paused of the ReconcileFunction.',
    objects: "all objects",
    act: pause,
  });

export const resumeCommand = (): Command =>
  targetCommand({
    name: "resume",
    summary: "start runs again of objects that were paused",
    description: "Start runs again of what drover pause has paused. What became due meanwhile runs.",
    objects: "all objects",
    act: resume,
  });

async function pause(queue: WorkQueue, target: OperatorTarget): Promise<string> {
  const { operatorName, rejectAbsent } = await import("./target.ts");
  await rejectAbsent(target);
  await queue.pause(target.scope, operatorName());
  return `Paused: ${target.description}. A run under way ends. To resume: ${target.resume}`;
}

async function resume(queue: WorkQueue, target: OperatorTarget): Promise<string> {
  const { scope, description, fn } = target;
  if (scope.kind === "controller" && fn.spec.paused === true) {
    throw new CommandError(
      `spec.paused of the ReconcileFunction ${fn.key} pauses it: set it to false, or take it away.`,
    );
  }
  if (scope.kind !== "object") {
    await queue.resume(scope);
    return `Resumed: ${description}.`;
  }
  const { key: before } = await queue.inspect(scope.key);
  await queue.resume(scope);
  const [{ key: after }, { now }, { describePauses }] = await Promise.all([
    queue.inspect(scope.key),
    queue.notRunSince([], 0),
    import("../describe-pauses.ts"),
  ]);
  const was = before.pauses.some((one) => one.scope === "object");
  const first = was ? `Resumed: ${description}.` : `${description} was not paused by itself.`;
  if (after.pauses.length === 0) return first;
  return `${first} It still does not run: ${describePauses(fn, scope.key, after.pauses, now)}.`;
}
