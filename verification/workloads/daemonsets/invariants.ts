// Invariants of any DaemonSet controller at every moment, checked on the watch events of one action.
import type { Json } from "../../../packages/sandbox/src/json.ts";
import type { Span } from "../family.ts";
import { follow, inOrder, livesOf, objectsOf, type Seen } from "../observe.ts";
import { hasEnded, isActive, isOwnedBy, nameOf } from "../sequences/kinds.ts";
import { hashOf, nodeOf, surges } from "./daemon-set.ts";

type Lives = ReadonlyMap<string, Seen>;

/** A pod that the controller has created on a node which has one: with a surge, one of another template. */
function superfluous(set: Json, lives: Lives, pod: Json): readonly string[] {
  const others = objectsOf(lives, "Pod").filter(
    (one) => isOwnedBy(one, set) && nodeOf(one) === nodeOf(pod) && !hasEnded(one),
  );
  const rivals = surges(set) ? others.filter((one) => isActive(one) && hashOf(one) === hashOf(pod)) : others;
  return rivals.map((one) => `${nameOf(pod)} is created on ${nodeOf(pod)} beside ${nameOf(one)}`);
}

/** The rules that were broken, in words; each once. */
export function violations({ before, during }: Span): readonly string[] {
  const found = new Set<string>();
  const lives = livesOf(before);
  const atSomeTime = objectsOf(livesOf([...before, ...during]), "DaemonSet");
  for (const one of inOrder(during)) {
    if (one.kind === "Pod" && one.type === "ADDED")
      for (const set of atSomeTime.filter((each) => isOwnedBy(one.object, each)))
        for (const problem of superfluous(set, lives, one.object)) found.add(problem);
    follow(lives, one);
  }
  return [...found];
}
