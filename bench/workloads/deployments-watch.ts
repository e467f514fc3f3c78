import { z } from "zod";
import type { Api } from "../bridge/cluster/api.ts";

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
const event = z.object({ type: z.string(), object: deployment });

/** The judge: what the API server tells of Deployments, whoever works on them. */
export interface DeploymentsWatch {
  /** Resolves once the Deployment has so many replicas of its template, all available, and no others; and says so. */
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

export async function watchDeployments(api: Api): Promise<DeploymentsWatch> {
  const waiting = new Map<string, () => void>();
  const answer = await api.open("/apis/apps/v1/deployments?watch=1&timeoutSeconds=86400", "application/json");
  let rest = "";
  answer.setEncoding("utf8");
  answer.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { type, object } = event.parse(JSON.parse(line));
      if (type === "DELETED" || !isComplete(object)) continue;
      const key = `${object.metadata.namespace}/${object.metadata.name}`;
      waiting.get(key)?.();
      waiting.delete(key);
    }
  });
  // Destroyed by `stop`.
  answer.on("error", () => undefined);
  return {
    complete: (namespace, name) => new Promise((resolve) => waiting.set(`${namespace}/${name}`, resolve)),
    stop: () => answer.destroy(),
  };
}
