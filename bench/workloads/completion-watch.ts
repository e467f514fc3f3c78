import { z } from "zod";
import type { Api } from "../bridge/cluster/api.ts";
import { followWatch } from "../bridge/cluster/follow-watch.ts";

const metadata = z.object({ namespace: z.string(), name: z.string(), generation: z.number() });
const deployment = z.object({
  metadata,
  spec: z.object({ replicas: z.number() }),
  status: z.object({
    observedGeneration: z.number().default(0),
    replicas: z.number().default(0),
    updatedReplicas: z.number().default(0),
    availableReplicas: z.number().default(0),
  }),
});
const job = z.object({
  metadata,
  status: z.object({ conditions: z.array(z.object({ type: z.string() })).default([]) }),
});

const daemonSet = z.object({
  metadata,
  status: z.object({
    observedGeneration: z.number().default(0),
    desiredNumberScheduled: z.number().default(0),
    updatedNumberScheduled: z.number().default(0),
    numberAvailable: z.number().default(0),
  }),
});

/** The judge: the API server's events about the objects of a kind, the same for every contestant. */
export interface CompletionWatch {
  /** Resolves once the object is complete. Rejects when the watch cannot go on. */
  complete(namespace: string, name: string): Promise<void>;
  stop(): void;
}

/** A Deployment is complete if it has so many replicas of its template, all available, and no others, and its status reports it. */
export const watchDeployments = (api: Api): CompletionWatch =>
  watchCompletion(api, "/apis/apps/v1/deployments", deployment, ({ metadata, spec, status }) => {
    const { observedGeneration, replicas, updatedReplicas, availableReplicas } = status;
    return (
      observedGeneration >= metadata.generation &&
      [replicas, updatedReplicas, availableReplicas].every((count) => count === spec.replicas)
    );
  });

export const watchJobs = (api: Api): CompletionWatch =>
  watchCompletion(api, "/apis/batch/v1/jobs", job, ({ status }) =>
    status.conditions.some(({ type }) => type === "Complete"),
  );

/** A DaemonSet is complete if each node that it fits has an available pod of its template, and its status reports it. */
export const watchDaemonSets = (api: Api): CompletionWatch =>
  watchCompletion(api, "/apis/apps/v1/daemonsets", daemonSet, ({ metadata, status }) => {
    const { observedGeneration, desiredNumberScheduled: desired } = status;
    return (
      observedGeneration >= metadata.generation &&
      desired > 0 &&
      [status.updatedNumberScheduled, status.numberAvailable].every((count) => count === desired)
    );
  });

function watchCompletion<Observed extends { readonly metadata: z.output<typeof metadata> }>(
  api: Api,
  path: string,
  schema: z.ZodType<Observed>,
  isComplete: (observed: Observed) => boolean,
): CompletionWatch {
  const waiting = new Map<string, () => void>();
  const stopped = new AbortController();
  const following = followWatch(
    api,
    path,
    ({ type, object }) => {
      const observed = schema.parse(object);
      if (type === "DELETED" || !isComplete(observed)) return;
      const key = `${observed.metadata.namespace}/${observed.metadata.name}`;
      waiting.get(key)?.();
      waiting.delete(key);
    },
    stopped.signal,
  );
  // Resolves the waiting promises.
  following.catch(() => undefined);
  return {
    complete: (namespace, name) =>
      Promise.race([new Promise<void>((resolve) => waiting.set(`${namespace}/${name}`, resolve)), following]),
    stop: () => stopped.abort(),
  };
}
