/** One way to break the queue on purpose: the promise that no longer holds, and what the code says instead. */
export interface Mutant {
  /** The name of a sentence in docs/work-queue.md. */
  readonly promise: string;
  /** What is wrong with it, in a few words. */
  readonly wrong: string;
  /** Within packages/queue/src. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** The tests that must notice: of the ledger's scripts, of processes on BullMQ, of leases, or the linter's. */
  readonly noticedBy?: "ledger" | "processes" | "law" | "scripts";
}

/** Mutants of one Lua file, such as `ledger/scripts/wake`. */
export const script = (file: string, mutants: readonly Omit<Mutant, "file">[]): readonly Mutant[] =>
  mutants.map((mutant) => ({ ...mutant, file: `${file}.lua` }));
