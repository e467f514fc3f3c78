import type { Audience, Completion } from "@drover/webhook";

/** A run whose result may be sent by a completion. */
export interface PendingRun {
  readonly audience: Audience;
  readonly key: string;
  /** Whether its lease is certainly ours. */
  held(): boolean;
}

/** What came of a completion. */
export type Completing = "taken" | "not held";

/** What a run may wait for. */
export interface Expectation {
  readonly completed: Promise<Completion>;
  readonly forget: () => void;
}

/** Runs of this gateway that wait for completions, by token. Each takes one, while it is held. */
export interface PendingRuns {
  /** Resolves with the first completion that is taken; `forget` is to be called when the run is over. */
  expect(token: string, run: PendingRun): Expectation;
  /** @param completion verified to be its audience's. */
  readonly complete: (completion: Completion) => Completing;
}

export function pendingRuns(): PendingRuns {
  const pending = new Map<string, PendingRun & { readonly take: (completion: Completion) => void }>();
  return {
    expect(token, run) {
      const { promise, resolve } = Promise.withResolvers<Completion>();
      pending.set(token, { ...run, take: resolve });
      return { completed: promise, forget: () => void pending.delete(token) };
    },
    complete(completion) {
      const { token, key, audience } = completion;
      const run = pending.get(token);
      if (run === undefined || run.key !== key || !isSame(run.audience, audience) || !run.held())
        return "not held";
      pending.delete(token);
      run.take(completion);
      return "taken";
    },
  };
}

const isSame = (a: Audience, b: Audience): boolean => a.name === b.name && a.uid === b.uid;
