import { type Milliseconds, type ObjectKey, oneLine } from "@drover/controller";
import { type KubeClient, type KubeObject, type ResourceRef } from "@drover/kube";
import { setTimeout as delay } from "node:timers/promises";
import { CommandError } from "../command-error.ts";
import { conditionOf, isObserved, type StatedCondition } from "../function-object.ts";

/** Between two looks. */
const lookAgainAfter: Milliseconds = 250;
/** Why a function is not Ready, that does not pass by itself. */
const lasting: readonly string[] = [
  ...["InvalidSpec", "PermissionNotHeld", "AuthorsUnguarded", "NameTaken", "NotInUse"],
];

/**
 * Until a function is Ready for the spec that it has now.
 *
 * @param onNews told why it is not, whenever that is another reason.
 * @throws CommandError with the reason, when it is none that passes, or the time is over.
 */
export async function untilReady(
  { client, ref, key }: { readonly client: KubeClient; readonly ref: ResourceRef; readonly key: ObjectKey },
  within: Milliseconds,
  onNews: (words: string) => void,
): Promise<StatedCondition> {
  const end = performance.now() + within;
  let told = "";
  for (;;) {
    const object = await client.get(ref, key);
    if (object === undefined) throw new CommandError(`${key} was deleted while it was waited for.`);
    const condition = isObserved(object) ? conditionOf(object) : undefined;
    if (condition?.status === "True") return condition;
    const words = wordsOf(condition);
    const isOver = performance.now() >= end;
    if (isOver || lasting.includes(condition?.reason ?? "")) throw notReady(object, key, words);
    if (condition !== undefined && words !== told) onNews((told = words));
    await delay(lookAgainAfter);
  }
}

const wordsOf = (condition: StatedCondition | undefined): string =>
  condition === undefined
    ? "nobody has looked at it since it was written"
    : oneLine(`${condition.reason}: ${condition.message}`);

function notReady(object: KubeObject, key: ObjectKey, words: string): CommandError {
  const hint = conditionOf(object) === undefined ? " Does Drover's deployer run in this cluster?" : "";
  return new CommandError(`${key} is not Ready: ${words}${words.endsWith(".") ? "" : "."}${hint}`);
}
