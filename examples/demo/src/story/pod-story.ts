import { type ObjectKey, silentLog } from "@drover/controller";
import { builtin, isObjectEvent, type KubeClient, type KubeObject, runReflector } from "@drover/kube";
import { z } from "zod";
import type { DemoRun } from "../demo-run.ts";

const podSchema = z.looseObject({
  metadata: z.looseObject({ deletionTimestamp: z.string().optional() }),
  status: z
    .looseObject({
      containerStatuses: z
        .array(
          z.looseObject({
            containerID: z.string().optional(),
            state: z.looseObject({ running: z.unknown().optional() }),
          }),
        )
        .default([]),
    })
    .default({ containerStatuses: [] }),
});

/** The fields of a bucket function's Pod that the demo reports. */
export interface PodView {
  /** Id of its current process. */
  readonly process: number | undefined;
  readonly terminating: boolean;
}

/** The change of a Pod between two states; `undefined`: it did not exist. */
export function describePodChange(
  name: string,
  before: PodView | undefined,
  after: PodView | undefined,
): string | undefined {
  if (after === undefined) return `Pod ${name} is gone`;
  if (before === undefined) return `the bucket function gets a Pod: ${name}`;
  if (after.terminating && !before.terminating) return `Pod ${name} is not needed any more: it ends its runs`;
  if (after.process === before.process) return undefined;
  if (after.process === undefined)
    return after.terminating ? undefined : `the process of Pod ${name} ended; it is started again`;
  return `the bucket function runs: process ${after.process}`;
}

/** Reports changes of the bucket function's Pods until the end. Returns a function that returns the id of a running process. */
export function narratePods(
  { narrator, request, folder }: DemoRun,
  client: KubeClient,
): () => number | undefined {
  const pods = new Map<ObjectKey, PodView>();
  const take = (key: ObjectKey, object: KubeObject | undefined): void => {
    const before = pods.get(key);
    const after = object && viewOf(object);
    const change = describePodChange(key.replace(/^.*\//, ""), before, after);
    if (after === undefined) pods.delete(key);
    else pods.set(key, after);
    if (after?.process !== undefined) folder.noteProcess("s3-bucket", after.process);
    if (change !== undefined) narrator.print(change, "quiet");
  };
  runReflector({
    client,
    ref: builtin.pod,
    metadataOnly: false,
    signal: request.signal,
    log: silentLog,
    labelSelector: "drover.dev/function",
    onEvents: (events) => {
      for (const event of events) {
        if (isObjectEvent(event)) take(event.key, event.type === "deleted" ? undefined : event.object);
      }
    },
  });
  return () => [...pods.values()].find((pod) => pod.process !== undefined)?.process;
}

function viewOf(object: KubeObject): PodView {
  const parsed = podSchema.safeParse(object).data;
  const [container] = parsed?.status.containerStatuses ?? [];
  const isRunning = container?.state.running !== undefined;
  const [, pid] = /^process:\/\/(\d+)$/.exec((isRunning && container.containerID) || "") ?? [];
  return {
    process: pid === undefined ? undefined : Number(pid),
    terminating: parsed?.metadata.deletionTimestamp !== undefined,
  };
}
