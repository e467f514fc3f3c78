import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

export const tolerationSchema = z.looseObject({
  key: z.string().optional(),
  operator: z.string().optional(),
  value: z.string().optional(),
  effect: z.string().optional(),
});
export type Toleration = z.output<typeof tolerationSchema>;

export const taintSchema = z.looseObject({
  key: z.string(),
  value: z.string().default(""),
  effect: z.string(),
});
export type Taint = z.output<typeof taintSchema>;

/** The comparisons `Lt` and `Gt` are an alpha feature of Kubernetes, and tolerate nothing here. */
export function tolerates(
  { key = "", operator, value = "", effect = "" }: Toleration,
  taint: Taint,
): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  switch (operator) {
    case undefined:
    case "":
    case "Equal":
      return value === taint.value;
    default:
      return operator === "Exists";
  }
}

/** True if a taint with one of these effects is not tolerated. */
export const hasUntolerated = (
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
): boolean =>
  taints.some((taint) => effects.includes(taint.effect) && !tolerations.some((one) => tolerates(one, taint)));

const automatic = (problem: string, effect: string): Toleration => ({
  key: `node.kubernetes.io/${problem}`,
  operator: "Exists",
  effect,
});

/** Added to every pod of a DaemonSet, so that it may run on a node with problems. */
const automaticTolerations = (hostNetwork: boolean): readonly Toleration[] => [
  ...["not-ready", "unreachable"].map((problem) => automatic(problem, "NoExecute")),
  ...["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map((problem) =>
    automatic(problem, "NoSchedule"),
  ),
  ...(hostNetwork ? [automatic("network-unavailable", "NoSchedule")] : []),
];

/** Tolerations with the automatic ones. One of the same key, operator, value and effect is replaced: its seconds go. */
export function withAutomatic(
  own: readonly Toleration[] = [],
  { hostNetwork = false }: { readonly hostNetwork?: boolean | undefined },
): readonly Toleration[] {
  const fields = ({ key, operator, value = "", effect }: Toleration) => [key, operator, value, effect];
  return automaticTolerations(hostNetwork).reduce((all, added) => {
    const isSame = (one: Toleration): boolean => isDeepStrictEqual(fields(one), fields(added));
    return all.some(isSame) ? all.map((one) => (isSame(one) ? added : one)) : [...all, added];
  }, own);
}
