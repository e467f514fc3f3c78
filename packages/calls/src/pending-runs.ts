import type { Audience, Completion } from "@drover/webhook";

/** A run with a result that may arrive as a completion. */
export interface PendingRun {
  readonly audience: Audience;
  readonly key: string;
  /** True if this gateway certainly holds its lease. */
  held(): boolean;
}

/** The outcome of a completion. */
export type CompletionOutcome = "taken" | "not held";

/** A completion that a run waits for. */
export interface Expectation {
  readonly completed: Promise<Completion>;
  readonly forget: () => void;
}

/** Runs of this gateway that wait for completions, by token. Each takes one, while its lease is held. */
export interface PendingRuns {
  /** `completed` resolves with the first completion that is taken. `forget` must be called when the run is over. */
  expect(token: string, run: PendingRun): Expectation;
  /** @param completion already verified as sent by its audience. */
  readonly complete: (completion: Completion) => CompletionOutcome;
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
      if (run === undefined || run.key !== key || !isSameAudience(run.audience, audience) || !run.held())
        return "not held";
      pending.delete(token);
      run.take(completion);
      return "taken";
    },
  };
}

const isSameAudience = (a: Audience, b: Audience): boolean => a.name === b.name && a.uid === b.uid;
