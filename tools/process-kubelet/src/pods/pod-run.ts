import { sleepUnlessAborted } from "@drover/timers";
import { type Log, messageOf, type Milliseconds, objectKey } from "@drover/controller";
import { builtin, isApiError, type KubeClient } from "@drover/kube";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ContainerRun, runContainer } from "../containers/container-run.ts";
import { containerStart } from "../containers/container-state.ts";
import type { Image } from "../images.ts";
import { type Launch, launchOf } from "../containers/launch.ts";
import { timestampNow } from "../timestamp-now.ts";
import type { PodAddresses } from "./pod-addresses.ts";
import { refusedStatus, podStatus } from "./pod-status.ts";
import type { PodCondition, Container, NodePod } from "./pod.ts";
import { MissingReferenceError, referencesOf } from "../containers/references.ts";
import type { BackOff } from "../containers/restart-delay.ts";
import { statusWriter } from "./status-writer.ts";
import { writeVolumes } from "../containers/volumes.ts";
import { unsupportedFeatures } from "./unsupported-features.ts";

/** The settings that all pods of a node share. */
export interface PodRunOptions {
  readonly client: Pick<KubeClient, "get" | "patch" | "delete">;
  readonly images: ReadonlyMap<string, Image>;
  readonly addresses: PodAddresses;
  readonly publishedAddress: (address: string) => string;
  /** For logs. */
  readonly folder: string;
  /** For volumes: a folder of each pod's own. */
  readonly volumes: string;
  readonly env: Readonly<Record<string, string>>;
  readonly backOff: BackOff;
  readonly probePeriod: Milliseconds | undefined;
  readonly log: Log;
  /** The node is ending: nothing that fails is tried again. */
  readonly signal: AbortSignal;
}

/** One pod of this node, from its first sight to its end. */
export interface PodRun {
  /** Takes a new version of the pod, which may be deleted or have a shorter grace. */
  update(pod: NodePod): void;
  /** The object was deleted by force: ends the processes, and writes no status. */
  objectDeleted(): void;
  /** Ends the processes, reports that in the status, and keeps the object, because the node stops. */
  stop(grace: Milliseconds): Promise<void>;
  /** Resolves when no process is left, and a pod that was to be deleted is. Never rejects. */
  readonly over: Promise<void>;
}

/** The grace of a pod that was deleted by force. */
const forceDeletedGrace: Milliseconds = 1000;

/** Runs a pod that is bound to this node. `address` is the pod's own, and given back at the end. */
export function runPod(parts: PodRunOptions, pod: NodePod, address: string): PodRun {
  const leaving = Promise.withResolvers<undefined>();
  const writer = statusWriter({ ...parts, pod });
  let grace = Infinity;
  const isLeaving = (): boolean => grace !== Infinity;
  const containers = startContainers(parts, pod, address, isLeaving, (status) => writer.write(status));
  const stopAll = (span: Milliseconds): void => {
    for (const { stop } of containers) stop(span);
  };
  const removed = new AbortController();
  const over = (async () => {
    await leaving.promise;
    await Promise.all(containers.map((container) => container.over));
    await writer.flushed();
    if (!removed.signal.aborted && isLeaving()) await removeObject(parts, pod);
    parts.addresses.release(address);
    await rm(podFolder(parts, pod), { recursive: true, force: true });
  })();
  const run: PodRun = {
    over,
    update({ terminationGrace: span }) {
      if (span === undefined || span >= grace) return;
      grace = span;
      stopAll(span);
      leaving.resolve(undefined);
    },
    objectDeleted() {
      removed.abort();
      stopAll(forceDeletedGrace);
      leaving.resolve(undefined);
    },
    stop(span) {
      stopAll(span);
      leaving.resolve(undefined);
      return over;
    },
  };
  run.update(pod);
  return run;
}

const podFolder = ({ volumes }: PodRunOptions, { uid }: NodePod): string => join(volumes, uid);

/** Starts what is to be run of a pod: nothing of one that has finished, is leaving, or asks for too much. */
function startContainers(
  parts: PodRunOptions,
  pod: NodePod,
  address: string,
  isLeaving: () => boolean,
  writeStatus: (status: ReturnType<typeof podStatus>) => void,
): readonly ContainerRun[] {
  const { phase, startTime: started, containerStatuses } = pod.status;
  if (phase === "Succeeded" || phase === "Failed" || pod.terminationGrace !== undefined) return [];
  const refusal = unsupportedFeatures(pod);
  if (refusal !== undefined) {
    parts.log.warn({ pod: `${pod.namespace}/${pod.name}` }, refusal);
    writeStatus(refusedStatus(pod, refusal));
    return [];
  }
  const startTime = started === "" ? timestampNow() : started;
  let before: readonly PodCondition[] = pod.status.conditions;
  let runs: readonly ContainerRun[] = [];
  const report = (): void => {
    if (runs.length === 0) return;
    const views = runs.map(({ view }) => view());
    const status = podStatus({
      pod,
      views,
      address: parts.publishedAddress(address),
      startTime,
      isTerminating: isLeaving(),
      before,
    });
    before = status.conditions;
    writeStatus(status);
  };
  const volumes = onceWritten(parts, pod, address);
  runs = pod.spec.containers.map((container) =>
    runContainer({
      ...parts,
      container,
      address,
      onChange: report,
      policy: pod.spec.restartPolicy,
      beginning: containerStart(
        containerStatuses.find(({ name }) => name === container.name),
        pod.spec.restartPolicy,
      ),
      grace: pod.spec.terminationGracePeriodSeconds * 1000,
      logFile: join(parts.folder, `${pod.namespace}_${pod.name}_${container.name}.log`),
      prepare: () => prepareLaunch(parts, container, pod, address, volumes),
    }),
  );
  report();
  return runs;
}

/** Writes the pod's volumes for its first container; a failure is retried at the next call. */
function onceWritten(parts: PodRunOptions, pod: NodePod, address: string): () => Promise<string> {
  let written: Promise<string> | undefined;
  const write = async (): Promise<string> => {
    const home = podFolder(parts, pod);
    // Nothing is left of a try that failed half-way: a file that is not writable would stand in the way of the next.
    await rm(home, { recursive: true, force: true });
    await mkdir(home, { recursive: true, mode: 0o700 });
    const volumes = join(home, "volumes");
    const references = referencesOf(parts.client, pod.namespace);
    await writeVolumes({ pod, address, references }, volumes);
    return volumes;
  };
  return () =>
    (written ??= write().catch((error: unknown) => {
      written = undefined;
      throw error;
    }));
}

async function prepareLaunch(
  parts: PodRunOptions,
  container: Container,
  pod: NodePod,
  address: string,
  volumesOf: () => Promise<string>,
): Promise<Launch | { reason: string; message: string }> {
  const image = parts.images.get(container.image);
  if (image === undefined) {
    const message = `This node has no image ${container.image}. Name it in the node's images, with the command that it stands for.`;
    return { reason: "ImagePullBackOff", message };
  }
  try {
    const volumes = await volumesOf();
    const references = referencesOf(parts.client, pod.namespace);
    return await launchOf({ container, pod, address, image, nodeEnv: parts.env, references, volumes });
  } catch (error) {
    const message = messageOf(error);
    if (!(error instanceof MissingReferenceError))
      parts.log.warn({ pod: pod.name, err: error }, "Could not prepare a container");
    return { reason: "CreateContainerConfigError", message };
  }
}

/** The processes have ended: the object may go, if it is still the same pod's. */
async function removeObject(
  { client, log, signal }: PodRunOptions,
  { namespace, name, uid }: NodePod,
): Promise<void> {
  const key = objectKey({ namespace, name });
  for (;;) {
    try {
      await client.delete(builtin.pod, key, { uid, gracePeriodSeconds: 0 });
      return;
    } catch (error) {
      if (isApiError(error, "Conflict", "NotFound")) return;
      log.warn({ pod: key, err: error }, "Could not delete a pod that has ended");
      if (signal.aborted) return;
      await sleepUnlessAborted(200, signal);
    }
  }
}
