/** One way to break the queue on purpose: the promise that no longer holds, and the change to the code. */
export interface Mutant {
  /** The name of a sentence in docs/work-queue.md. */
  readonly promise: string;
  /** The fault, in a few words. */
  readonly wrong: string;
  /** Within packages/queue/src. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** The tests that must notice: of the ledger's scripts, of processes on BullMQ, of leases, or the linter's. */
  readonly noticedBy: "ledger" | "processes" | "law" | "scripts";
}

/**
 * Mutants, read from a list of patches with an empty line between two. A line of its own is the file that the patches
 * below it change. A patch opens with `promise: what is wrong`; its `-` lines are in the code, and its `+` lines, if
 * it has any, replace them.
 */
export function mutants(noticedBy: Mutant["noticedBy"], patches: string): readonly Mutant[] {
  let file = "";
  return patches
    .trim()
    .split("\n\n")
    .flatMap((patch) => {
      const [title = "", ...lines] = patch.split("\n");
      if (lines.length === 0) {
        file = title;
        return [];
      }
      const [promise = "", wrong = ""] = title.split(": ");
      return [{ promise, wrong, file, from: signed("- ", lines), to: signed("+ ", lines), noticedBy }];
    });
}

const signed = (sign: string, lines: readonly string[]): string =>
  lines
    .filter((line) => line.startsWith(sign))
    .map((line) => line.slice(sign.length))
    .join("\n");
