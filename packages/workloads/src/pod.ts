import type { Milliseconds } from "@drover/controller";
import { z } from "zod";
import { conditionOf } from "./condition.ts";
import { count, objectOf, time } from "./object.ts";

const containers = z
  .array(z.looseObject({ name: z.string(), restartCount: count.default(0) }))
  .nullish()
  .transform((all) => all ?? []);

/** What is read of a pod. */
export const podSchema = objectOf(
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
        .array(z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: time }))
        .optional(),
      containerStatuses: containers,
      initContainerStatuses: containers,
    })
    .prefault({}),
);
export type Pod = z.output<typeof podSchema>;

const isOver = ({ status: { phase } }: Pod): boolean => phase === "Succeeded" || phase === "Failed";

/** It counts as a replica: it has neither ended nor is it to end. */
export const isActive = (pod: Pod): boolean => !isOver(pod) && pod.metadata.deletionTimestamp === undefined;

/** It is to end, and has not yet. */
export const isTerminating = (pod: Pod): boolean =>
  !isOver(pod) && pod.metadata.deletionTimestamp !== undefined;

/** Its processes may still run, whatever was asked of them. */
export const mayRun = (pod: Pod): boolean => !isOver(pod);

export const isReady = ({ status: { conditions } }: Pod): boolean =>
  conditionOf(conditions, "Ready")?.status === "True";

/** Since when it is ready; undefined when it is not, or nobody says. */
export const readySince = (pod: Pod): number | undefined =>
  isReady(pod) ? conditionOf(pod.status.conditions, "Ready")?.lastTransitionTime : undefined;

/**
 * It is ready, and has been for `minReadySeconds`.
 *
 * @param now milliseconds since 1970.
 */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (!isReady(pod)) return false;
  const since = readySince(pod);
  return minReadySeconds === 0 || (since !== undefined && since + minReadySeconds * 1_000 <= now);
}

/** In how long the first of the pods that are ready becomes available; undefined when none will. */
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

/** The most restarts that any of its containers has seen, and any of its sidecars. */
export function mostRestarts(pod: Pod): readonly [regular: number, sidecars: number] {
  const { spec, status } = pod;
  const sidecars = new Set(
    (spec.initContainers ?? []).filter((one) => one.restartPolicy === "Always").map(({ name }) => name),
  );
  const most = (all: typeof status.containerStatuses): number =>
    Math.max(0, ...all.map(({ restartCount }) => restartCount));
  return [
    most(status.containerStatuses),
    most(status.initContainerStatuses.filter(({ name }) => sidecars.has(name))),
  ];
}
