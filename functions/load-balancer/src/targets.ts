import { builtin, type ResourceRef } from "drover/kube";
import { z } from "zod";
import type { LoadBalancerContext } from "./load-balancer.ts";
import type { BalancedService, ServicePort } from "./service.ts";

export const endpointSlice: ResourceRef = {
  group: "discovery.k8s.io",
  version: "v1",
  plural: "endpointslices",
  kind: "EndpointSlice",
  namespaced: true,
};

/** Where connections to a port of the load balancer go. */
export interface Target {
  /** The id of an instance, or an IP address. */
  readonly id: string;
  readonly port: number;
}

/** The targets of a port. */
export type TargetsOf = (port: ServicePort) => readonly Target[];

/** The targets for the ports of a Service, as its `targetType` asks. */
export const readTargets = async (
  context: LoadBalancerContext,
  service: BalancedService,
): Promise<TargetsOf> =>
  context.spec.targetType === "instance" ? onNodes(context) : onPods(context, service);

const nodeSchema = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()).default({}) }),
  spec: z.object({
    providerID: z.string().default(""),
    taints: z.array(z.object({ key: z.string() })).default([]),
  }),
});

/**
 * All nodes but those that ask to be left out or are about to be deleted, as Kubernetes' own service controller has it
 * since 1.27 (KEP 3458): nodes that are not Ready stay, and the health checks of the load balancer decide.
 */
async function onNodes({ client, signal }: LoadBalancerContext): Promise<TargetsOf> {
  const nodes = await client.find(builtin.node, { signal });
  const ids = nodes.flatMap((node) => {
    const { metadata, spec } = nodeSchema.parse(node);
    const isLeaving = spec.taints.some(({ key }) => key === "ToBeDeletedByClusterAutoscaler");
    const isExcluded = "node.kubernetes.io/exclude-from-external-load-balancers" in metadata.labels;
    const [id] = /i-[0-9a-z]+$/.exec(spec.providerID) ?? [];
    return id === undefined || isLeaving || isExcluded ? [] : [id];
  });
  return ({ nodePort }) => (nodePort === undefined ? [] : ids.map((id) => ({ id, port: nodePort })));
}

const sliceSchema = z.object({
  addressType: z.string(),
  endpoints: z
    .array(
      z.object({
        addresses: z.array(z.string()),
        conditions: z.object({ ready: z.boolean().nullish() }).default({}),
      }),
    )
    .nullish(),
  ports: z.array(z.object({ name: z.string().nullish(), port: z.int().nullish() })).nullish(),
});

/** The ready Pods of the Service. */
async function onPods(
  { client, metadata, signal }: LoadBalancerContext,
  { name }: BalancedService,
): Promise<TargetsOf> {
  const matchLabels = { "kubernetes.io/service-name": name };
  const found = await client.find(endpointSlice, {
    namespace: metadata.namespace,
    selector: { matchLabels },
    signal,
  });
  const slices = found
    .map((each) => sliceSchema.parse(each))
    .filter(({ addressType }) => addressType === "IPv4");
  return (wanted) =>
    slices.flatMap(({ endpoints, ports }) => {
      const port = (ports ?? []).find((each) => (each.name ?? "") === wanted.name)?.port;
      const ready = (endpoints ?? []).filter(({ conditions }) => conditions.ready !== false);
      const ids = ready.flatMap(({ addresses }) => addresses.slice(0, 1));
      return typeof port === "number" ? ids.map((id) => ({ id, port })) : [];
    });
}
