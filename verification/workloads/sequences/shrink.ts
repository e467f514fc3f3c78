import type { Action, Sequence } from "./actions.ts";

/** Which of several sequences still differ; all are asked at once, for each asking takes both subjects to be started. */
export type Differ = (sequences: readonly Sequence[]) => Promise<readonly boolean[]>;

const without = (actions: readonly Action[], left: ReadonlySet<number>): readonly Action[] =>
  actions.filter((_, i) => !left.has(i));

/**
 * A shorter sequence that still differs. In each round every action is left out by itself; then all of those together
 * that nothing depended on, and, should that be too many, only half of them, and so on.
 */
export async function shrunk(sequence: Sequence, differ: Differ, rounds = 3): Promise<Sequence> {
  let { actions } = sequence;
  for (let round = 0; round < rounds && actions.length > 1; round += 1) {
    const single = actions.map((_, i) => without(actions, new Set([i])));
    const differing = await differ(single.map((one) => ({ ...sequence, actions: one })));
    const needless = actions.flatMap((_, i) => (differing[i] === true ? [i] : []));
    if (needless.length === 0) break;
    const sizes = [needless.length, Math.ceil(needless.length / 2), Math.ceil(needless.length / 4)];
    const tries = [...new Set(sizes)]
      .filter((size) => size > 1)
      .map((size) => new Set(needless.slice(0, size)));
    const together = await differ(tries.map((left) => ({ ...sequence, actions: without(actions, left) })));
    const most = tries[together.indexOf(true)] ?? new Set(needless.slice(0, 1));
    actions = without(actions, most);
  }
  return { ...sequence, actions };
}
