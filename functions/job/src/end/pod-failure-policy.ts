import type { Pod } from "@drover/workloads";
import type { FailureRule, JobSpec } from "../job.ts";

/** The first matching rule of `podFailurePolicy`. */
export interface FailureMatch {
  readonly action: FailureRule["action"];
  /** Why the Job fails, if the action is `FailJob`. */
  readonly message: string;
}

type ContainerStatus = Pod["status"]["containerStatuses"][number];

/**
 * The first rule that matches a pod that has failed, or is to end. If none matches, the failure counts.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy
 */
export function matchFailurePolicy({ podFailurePolicy }: JobSpec, pod: Pod): FailureMatch | undefined {
  for (const [index, rule] of (podFailurePolicy?.rules ?? []).entries()) {
    const why = reasonOf(rule, pod);
    if (why === undefined) continue;
    const { action } = rule;
    return { action, message: `${why} matching ${action} rule at index ${index}` };
  }
  return undefined;
}

/** True if the failure of a pod counts towards no limit. */
export const isIgnored = (spec: JobSpec, pod: Pod): boolean =>
  matchFailurePolicy(spec, pod)?.action === "Ignore";

function reasonOf(
  { onExitCodes, onPodConditions }: FailureRule,
  { metadata, status }: Pod,
): string | undefined {
  const { namespace = "", name } = metadata;
  if (onExitCodes != null) {
    const isMatch = (one: ContainerStatus): boolean => {
      const code = one.state?.terminated?.exitCode ?? 0;
      const { containerName, operator, values } = onExitCodes;
      return (
        code !== 0 &&
        (containerName == null || containerName === one.name) &&
        values.includes(code) === (operator === "In")
      );
    };
    const ended = status.containerStatuses.find(isMatch) ?? status.initContainerStatuses.find(isMatch);
    const code = ended?.state?.terminated?.exitCode;
    return ended && `Container ${ended.name} for pod ${namespace}/${name} failed with exit code ${code}`;
  }
  const found = (status.conditions ?? []).find((condition) =>
    (onPodConditions ?? []).some(
      ({ type, status }) => type === condition.type && status === condition.status,
    ),
  );
  return found && `Pod ${namespace}/${name} has condition ${found.type}`;
}
