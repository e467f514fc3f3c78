import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

/** A condition of a built-in workload. Those of Deployments and Jobs have times that others do not have. */
export const conditionSchema = z.looseObject({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().optional(),
  message: z.string().optional(),
  lastTransitionTime: z.string().nullish(),
});
export type WorkloadCondition = z.output<typeof conditionSchema>;

interface Typed {
  readonly type: string;
}

export const conditionOf = <C extends Typed>(conditions: readonly C[] = [], type: string): C | undefined =>
  conditions.find((one) => one.type === type);

export const withoutCondition = <C extends Typed>(conditions: readonly C[] = [], type: string): C[] =>
  conditions.filter((one) => one.type !== type);

/** The conditions with this one last; it replaces another one of its type. */
export const withCondition = <C extends Typed>(conditions: readonly C[] = [], stated: C): C[] => [
  ...withoutCondition(conditions, stated.type),
  stated,
];

/** True if two statuses are equal; missing conditions are equal to an empty list, and a field without a value to none. */
export const isSameStatus = <Status extends object>(a: Status, b: Status): boolean =>
  isDeepStrictEqual(withoutGaps(a), withoutGaps(b));

const withoutGaps = (status: object): object => ({
  conditions: [],
  ...Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined)),
});
