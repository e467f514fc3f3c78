import type { TestCluster } from "../end-to-end/stage/test-cluster.ts";
import { z } from "zod";

const podSchema = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    deletionTimestamp: z.string().optional(),
  }),
  status: z
    .looseObject({
      containerStatuses: z.array(z.looseObject({ containerID: z.string().optional() })).default([]),
    })
    .default({ containerStatuses: [] }),
});
const listSchema = z.looseObject({ items: z.array(podSchema) });

/** A Pod of a function, and its process on the node. */
export interface Pod {
  readonly name: string;
  readonly function: string;
  readonly leaving: boolean;
  readonly process: number | undefined;
}

/** All Pods of all functions. */
export async function podsOf(cluster: TestCluster): Promise<readonly Pod[]> {
  const { items } = listSchema.parse(await cluster.read("/api/v1/namespaces/default/pods"));
  return items.map(({ metadata, status }) => {
    const [, pid] = /^process:\/\/(\d+)$/.exec(status.containerStatuses[0]?.containerID ?? "") ?? [];
    return {
      name: metadata.name,
      function: metadata.labels["drover.dev/function"] ?? "",
      leaving: metadata.deletionTimestamp !== undefined,
      process: pid === undefined ? undefined : Number(pid),
    };
  });
}
