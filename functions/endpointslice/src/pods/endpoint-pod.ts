import { mayRun, podSchema } from "@drover/workloads";
import { z } from "zod";

const containers = z
  .array(
    z.looseObject({
      name: z.string(),
      restartPolicy: z.string().optional(),
      ports: z
        .array(
          z.looseObject({
            name: z.string().default(""),
            containerPort: z.int(),
            protocol: z.string().default("TCP"),
          }),
        )
        .default([]),
    }),
  )
  .default([]);

/** The fields of a pod that are read. */
export const endpointPodSchema = podSchema.extend({
  spec: podSchema.shape.spec.extend({
    hostname: z.string().default(""),
    subdomain: z.string().default(""),
    containers,
    initContainers: containers,
  }),
  status: podSchema.shape.status
    .unwrap()
    .extend({
      podIP: z.string().default(""),
      podIPs: z.array(z.object({ ip: z.string() })).default([]),
    })
    .prefault({}),
});
export type EndpointPod = z.output<typeof endpointPodSchema>;

/** True unless it has ended, or has no address yet. A pod that is being deleted is an endpoint until it has ended. */
export const isEndpoint = (pod: EndpointPod): boolean =>
  mayRun(pod) && (pod.status.podIP !== "" || pod.status.podIPs.length > 0);
