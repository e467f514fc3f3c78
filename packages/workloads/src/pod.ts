import type { Milliseconds } from "@drover/controller";
import { z } from "zod";
import { conditionOf } from "./condition.ts";
import { countSchema, objectSchemaOf, timeSchema } from "./object-schemas.ts";

const state = z.looseObject({
  terminated: z
    .looseObject({ exitCode: z.int().default(0), finishedAt: timeSchema })
    .nullish()
    .transform((terminated) => terminated ?? undefined),
});
const containers = z
  .array(z.looseObject({ name: z.string(), restartCount: countSchema.default(0), state: state.optional() }))
  .nullish()
  .transform((all) => all ?? []);

/** The fields of a pod that are read. */
export const podSchema = objectSchemaOf(
  z.looseObject({
    nodeName: z.string().optional(),
    initContainers: z
      .array(z.looseObject({ name: z.string(), restartPolicy: z.string().optional() }))
      .optional(),
  }),
  z
    .looseObject({
      phase: z.string().optional(),
      conditions: z
        .array(z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: timeSchema }))
        .optional(),
      containerStatuses: containers,
      initContainerStatuses: containers,
    })
    .prefault({}),
);
export type Pod = z.output<typeof podSchema>;

const hasEnded = ({ status: { phase } }: Pod): boolean => phase === "Succeeded" || phase === "Failed";

/** True if it counts as a replica: it has not ended, and is not being deleted. */
export const isActive = (pod: Pod): boolean => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined;

/** True if it is being deleted, and has not ended yet. */
export const isTerminating = (pod: Pod): boolean =>
  !hasEnded(pod) && pod.metadata.deletionTimestamp !== undefined;

/** True if its processes may still run, even if it is being deleted. */
export const mayRun = (pod: Pod): boolean => !hasEnded(pod);

export const isReady = ({ status: { conditions } }: Pod): boolean =>
  conditionOf(conditions, "Ready")?.status === "True";

/** Since when it is ready, in ms since 1970; undefined if it is not ready, or the time is missing. */
export const readySince = (pod: Pod): number | undefined =>
  isReady(pod) ? conditionOf(pod.status.conditions, "Ready")?.lastTransitionTime : undefined;

/**
 * True if it has been ready for `minReadySeconds`.
 *
 * @param now milliseconds since 1970.
 */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (!isReady(pod)) return false;
  const since = readySince(pod);
  return minReadySeconds === 0 || (since !== undefined && since + minReadySeconds * 1_000 <= now);
}

/** Time until the next of the ready pods becomes available; undefined if none will. */
export function nextAvailable(
  pods: readonly Pod[],
  minReadySeconds: number,
  now: number,
): Milliseconds | undefined {
  const waits = pods
    .flatMap((pod) => readySince(pod) ?? [])
    .map((since) => since + minReadySeconds * 1_000 - now);
  const first = Math.min(...waits.filter((wait) => wait > 0));
  return Number.isFinite(first) ? first : undefined;
}

/** The statuses of its sidecars: init containers that are restarted whenever they end. */
export function sidecarStatuses({ spec, status }: Pod): Pod["status"]["initContainerStatuses"] {
  const names = new Set(
    (spec.initContainers ?? []).filter((one) => one.restartPolicy === "Always").map(({ name }) => name),
  );
  return status.initContainerStatuses.filter(({ name }) => names.has(name));
}

/** The highest number of restarts of its containers, and of its sidecars. */
export function maxRestarts(pod: Pod): readonly [regular: number, sidecars: number] {
  const most = (all: Pod["status"]["containerStatuses"]): number =>
    Math.max(0, ...all.map(({ restartCount }) => restartCount));
  return [most(pod.status.containerStatuses), most(sidecarStatuses(pod))];
}
