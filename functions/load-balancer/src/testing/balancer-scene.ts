import type { Condition } from "drover";
import type { NewObject } from "drover/kube";
import { type Manifest, testCluster } from "drover/testing";
import { elbConfigSchema } from "../config.ts";
import { elbPorts } from "../elb/elb-port.ts";
import deployedAs from "../function.ts";
import { loadBalancerController } from "../load-balancer-controller.ts";
import { startAwsFront } from "./aws-front.ts";
import { emptyAws } from "./aws-world.ts";
import { keys, loadBalancer, node, service } from "./manifests.ts";

const kinds = {
  balancer: { apiVersion: "elb.drover.dev/v1alpha1", kind: "LoadBalancer" },
  service: { apiVersion: "v1", kind: "Service" },
};

/** EndpointSlices, which the sandbox does not have. */
const endpointSlices: NewObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  metadata: { name: "endpointslices.discovery.k8s.io" },
  spec: {
    group: "discovery.k8s.io",
    scope: "Namespaced",
    names: { plural: "endpointslices", singular: "endpointslice", kind: "EndpointSlice" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

export type BalancerScene = Awaited<ReturnType<typeof openBalancerScene>>;

/** A cluster with two nodes and the Service `web`, an AWS account, and the function between them. */
export async function openBalancerScene() {
  const aws = await emptyAws();
  const front = await startAwsFront(aws.url);
  const cluster = await testCluster(
    ({ outside }) => {
      const ports = elbPorts(elbConfigSchema.parse({ elbEndpoint: outside["aws"], elbTimeout: "5s" }));
      return { controllers: [loadBalancerController(ports)], close: () => ports.close() };
    },
    { outside: { aws: front.url }, deployedAs, crds: [endpointSlices] },
  );
  const apply = async (...manifests: readonly Manifest[]): Promise<void> => {
    for (const manifest of manifests) await cluster.apply(manifest);
    await cluster.runUntilIdle();
  };
  await apply(keys, node("a"), node("b"), service());
  const subnets = aws.subnets.slice(0, 2);
  const object = async (): Promise<Record<string, unknown>> => {
    const found = await cluster.get(kinds.balancer, "web");
    return (found?.["status"] ?? {}) as Record<string, unknown>;
  };
  return {
    aws,
    front,
    cluster,
    apply,
    subnets,
    /** Applies the LoadBalancer `web` with this spec, and runs until it is idle. */
    balance: (spec: object = {}) => apply(loadBalancer({ subnets, ...spec })),
    async remove(): Promise<void> {
      await cluster.delete(kinds.balancer, "web");
      await cluster.runUntilIdle();
    },
    status: object,
    async condition(type: string): Promise<Condition | undefined> {
      const { conditions = [] } = (await object()) as { conditions?: readonly Condition[] };
      return conditions.find((each) => each.type === type);
    },
    async address(): Promise<unknown> {
      const found = await cluster.get(kinds.service, "web");
      return (found?.["status"] as { loadBalancer?: unknown } | undefined)?.loadBalancer;
    },
    exists: async (): Promise<boolean> => (await cluster.get(kinds.balancer, "web")) !== undefined,
    /** The reasons of the Events so far. */
    events: () => cluster.announcements.map(({ reason }) => reason),
    async close(): Promise<void> {
      await cluster.close();
      await front.close();
      await aws.close();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await this.close();
    },
  };
}
