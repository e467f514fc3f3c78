import { z } from "zod";

/** How many checks there were. */
export const counts = z.object({ passed: z.number(), failed: z.number() });
export type Counts = z.output<typeof counts>;

/** Sentences that hold or do not, one after the other, and their count. */
export interface Checks {
  /**
   * Runs a check and answers what it answers. Those that follow a failed one are not run, for each stands on what was
   * done before it.
   */
  readonly check: <T>(sentence: string, body: () => Promise<T>) => Promise<T | undefined>;
  readonly counts: Readonly<Counts>;
}

/** Goes on counting from `before`. */
export function openChecks(before: Counts = { passed: 0, failed: 0 }): Checks {
  const counts = { ...before };
  return {
    counts,
    async check(sentence, body) {
      if (counts.failed > 0) return undefined;
      const start = performance.now();
      const took = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
      try {
        const answer = await body();
        counts.passed += 1;
        console.log(`  ok      ${sentence} (${took()})`);
        return answer;
      } catch (error) {
        counts.failed += 1;
        console.log(`  FAILED  ${sentence} (${took()})`);
        console.error(error);
        return undefined;
      }
    },
  };
}
