import type { Milliseconds, ObjectKey } from "@drover/controller";
import { isObjectEvent, type KubeClient, type KubeObject, type ReflectorEvent } from "@drover/kube";
import { isForNode, bindPod } from "./pod-binder.ts";
import { type PodRunOptions, type PodRun, runPod } from "./pod-run.ts";
import { type NodePod, parsePod } from "./pod.ts";

export interface NodePodsOptions extends PodRunOptions {
  readonly client: KubeClient;
  readonly name: string;
}

/** The pods of the cluster as they were seen last, and those of them that this node runs. */
export interface NodePods {
  take(events: readonly ReflectorEvent[]): void;
  /** All pods, of whichever node. */
  all(): Iterable<NodePod>;
  /** Resolves when all pods that there were at the beginning are known and those of this node begun. */
  readonly known: Promise<void>;
  /** Ends all processes of this node. */
  stop(grace: Milliseconds): Promise<void>;
}

/**
 * Guarantees: a pod is run once at a time, by its uid; none is begun before all that exist were seen, so that no
 * address is given twice after a start.
 */
export function nodePods(parts: NodePodsOptions): NodePods {
  const { log } = parts;
  const seen = new Map<ObjectKey, NodePod>();
  const runs = podRuns(parts, (key) => seen.get(key));
  const known = Promise.withResolvers<undefined>();
  let isKnown = false;
  const learn = (key: ObjectKey, object: KubeObject): void => {
    const before = seen.get(key);
    if (before !== undefined && before.uid !== object.metadata.uid) runs.forget(before.uid);
    const pod = parsed(object, log);
    if (pod === undefined) return;
    seen.set(key, pod);
    if (isKnown) runs.look(key, pod);
  };
  const beginAll = (): void => {
    isKnown = true;
    for (const [key, pod] of [...seen].sort(addressedFirst)) runs.look(key, pod);
    known.resolve(undefined);
  };
  return {
    known: known.promise,
    all: () => seen.values(),
    stop: (grace) => runs.stop(grace),
    take(events) {
      for (const event of events) {
        if (event.type === "synced" && !isKnown) beginAll();
        if (!isObjectEvent(event)) continue;
        if (event.type === "deleted") {
          seen.delete(event.key);
          runs.forget(event.uid);
        } else if (event.object !== undefined) learn(event.key, event.object);
      }
    },
  };
}

/** The pods that this node runs, by uid; `latest` is what was last seen of a pod. */
function podRuns(parts: NodePodsOptions, latest: (key: ObjectKey) => NodePod | undefined) {
  const { name, addresses, log, signal } = parts;
  const runs = new Map<string, PodRun>();
  const ending = new Set<Promise<void>>();
  const binding = new Set<string>();
  const begin = (pod: NodePod): void => {
    const { podIP, phase } = pod.status;
    if (signal.aborted || runs.has(pod.uid) || phase === "Succeeded" || phase === "Failed") return;
    const address = addresses.reserve(podIP) ? podIP : addresses.take();
    if (address === undefined)
      log.error({ pod: `${pod.namespace}/${pod.name}` }, "No address is free for this pod: widen podCidr");
    else runs.set(pod.uid, runPod(parts, pod, address));
  };
  const bind = async (key: ObjectKey, pod: NodePod): Promise<void> => {
    const { uid } = pod;
    binding.add(uid);
    const isOurs = await bindPod(parts, pod);
    binding.delete(uid);
    // Begin without waiting for the watch, which may already have reported the pod's deletion.
    const now = latest(key);
    if (isOurs && now?.uid === uid) begin({ ...now, spec: { ...now.spec, nodeName: name } });
  };
  return {
    look(key: ObjectKey, pod: NodePod): void {
      const run = runs.get(pod.uid);
      if (run !== undefined) run.update(pod);
      else if (pod.spec.nodeName === name) begin(pod);
      else if (isForNode(pod, name) && !binding.has(pod.uid)) void bind(key, pod);
    },
    /** The object is gone. */
    forget(uid: string): void {
      const run = runs.get(uid);
      if (run === undefined) return;
      runs.delete(uid);
      run.objectDeleted();
      ending.add(run.over);
      void run.over.then(() => ending.delete(run.over));
    },
    async stop(grace: Milliseconds): Promise<void> {
      await Promise.all([...[...runs.values()].map((run) => run.stop(grace)), ...ending]);
    },
  };
}

/** Sorts pods that already have an address first, so that they keep it. */
const addressedFirst = ([, a]: readonly [ObjectKey, NodePod], [, b]: readonly [ObjectKey, NodePod]): number =>
  Number(b.status.podIP !== "") - Number(a.status.podIP !== "");

function parsed(object: KubeObject, log: PodRunOptions["log"]): NodePod | undefined {
  try {
    return parsePod(object);
  } catch (error) {
    const { namespace, name } = object.metadata;
    log.warn({ pod: `${namespace ?? ""}/${name}`, err: error }, "This pod cannot be read, and is left alone");
    return undefined;
  }
}
