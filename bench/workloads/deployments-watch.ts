import { z } from "zod";
import type { Api } from "../bridge/cluster/api.ts";
import { followWatch } from "../bridge/cluster/follow-watch.ts";

const deployment = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string(), generation: z.number() }),
  spec: z.object({ replicas: z.number() }),
  status: z.object({
    observedGeneration: z.number().default(0),
    replicas: z.number().default(0),
    updatedReplicas: z.number().default(0),
    availableReplicas: z.number().default(0),
  }),
});
type Deployment = z.output<typeof deployment>;

/** The judge: the API server's events about Deployments, the same for every contestant. */
export interface DeploymentsWatch {
  /**
   * Resolves once the Deployment has so many replicas of its template, all available, and no others, and its status reports it.
   * Rejects when the watch cannot go on.
   */
  complete(namespace: string, name: string): Promise<void>;
  stop(): void;
}

const isComplete = ({ metadata, spec: { replicas: wanted }, status }: Deployment): boolean => {
  const { observedGeneration, replicas, updatedReplicas, availableReplicas } = status;
  return (
    observedGeneration >= metadata.generation &&
    [replicas, updatedReplicas, availableReplicas].every((count) => count === wanted)
  );
};

export function watchDeployments(api: Api): DeploymentsWatch {
  const waiting = new Map<string, () => void>();
  const stopped = new AbortController();
  const following = followWatch(
    api,
    "/apis/apps/v1/deployments",
    ({ type, object }) => {
      const observed = deployment.parse(object);
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
