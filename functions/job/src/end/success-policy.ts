import { countOf, countOfBoth, type Indexes, readIndexes } from "../pods/indexes.ts";
import type { JobSpec } from "../job.ts";

/**
 * The message about the first rule of `successPolicy` that the succeeded indexes meet; undefined if they meet none.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/job/#success-policy
 */
export function matchSuccessPolicy(
  { successPolicy, completions = 0 }: JobSpec,
  succeeded: Indexes,
): string | undefined {
  if (succeeded.length === 0) return undefined;
  const met = (successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes == null) return succeededCount != null && countOf(succeeded) >= succeededCount;
    const required = readIndexes(succeededIndexes, completions);
    if (required.length === 0) return false;
    const reached = countOfBoth(required, succeeded);
    return reached === countOf(required) || (succeededCount != null && reached >= succeededCount);
  });
  return met < 0 ? undefined : `Matched rules at index ${met}`;
}
