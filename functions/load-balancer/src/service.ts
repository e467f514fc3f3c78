import { RetryAfterError } from "drover";
import { builtin, type KubeObject } from "drover/kube";
import { z } from "zod";
import type { LoadBalancerContext } from "./load-balancer.ts";

/** The class by which a Service asks for a load balancer of this function, and of no other controller. */
export const loadBalancerClass = "elb.drover.dev/network";

const port = z.object({
  name: z.string().default(""),
  protocol: z.string().default("TCP"),
  port: z.int(),
  nodePort: z.int().optional(),
  targetPort: z.union([z.int(), z.string()]).optional(),
});

const serviceSchema = z.object({
  spec: z.object({
    type: z.string().optional(),
    loadBalancerClass: z.string().optional(),
    ports: z.array(port).default([]),
    externalTrafficPolicy: z.string().optional(),
    healthCheckNodePort: z.int().optional(),
  }),
});

/** The protocols of network load balancers that a Service can ask for. */
export type Protocol = "TCP" | "UDP" | "TCP_UDP";

/** A port of the load balancer. */
export interface ServicePort {
  readonly protocol: Protocol;
  readonly port: number;
  readonly nodePort: number | undefined;
  /** The name by which EndpointSlices have the port. */
  readonly name: string;
}

/** A Service, with the parts of its spec that its load balancer follows. */
export interface BalancedService {
  readonly name: string;
  /** As it was read. */
  readonly object: KubeObject;
  readonly ports: readonly ServicePort[];
  /** The port at which a node reports whether it has Pods of the Service, with externalTrafficPolicy Local. */
  readonly healthCheckNodePort: number | undefined;
}

/**
 * The Service of the load balancer.
 *
 * @throws RetryAfterError `ServiceMissing`, `ServiceNotForUs`, `PortsNotSupported`. A change of the Service wakes the object.
 */
export async function readService(context: LoadBalancerContext): Promise<BalancedService> {
  const { name } = context.metadata;
  const found = await getService(context);
  const wait = (reason: string, message: string): Error =>
    new RetryAfterError(message, { after: context.spec.pollInterval, reason });
  if (found === undefined) {
    throw wait(
      "ServiceMissing",
      `There is no Service ${name} in this namespace. Create it, with spec.type LoadBalancer and spec.loadBalancerClass ${loadBalancerClass}.`,
    );
  }
  const { spec } = serviceSchema.parse(found);
  if (spec.type !== "LoadBalancer" || spec.loadBalancerClass !== loadBalancerClass) {
    throw wait(
      "ServiceNotForUs",
      `The Service ${name} does not ask for this load balancer. Set its spec.type to LoadBalancer and its ` +
        `spec.loadBalancerClass to ${loadBalancerClass}. The class can only be set together with the type.`,
    );
  }
  const ports = portsOf(spec.ports);
  if (typeof ports === "string") throw wait("PortsNotSupported", ports);
  const local = spec.externalTrafficPolicy === "Local";
  return { name, object: found, ports, healthCheckNodePort: local ? spec.healthCheckNodePort : undefined };
}

const getService = ({ client, key, signal }: LoadBalancerContext): Promise<KubeObject | undefined> =>
  client.get(builtin.service, key, { signal });

/** A network load balancer has one listener for each port number, which may take TCP and UDP. */
function portsOf(ports: readonly z.output<typeof port>[]): readonly ServicePort[] | string {
  const merged = new Map<number, ServicePort>();
  for (const { name, protocol, port: number, nodePort, targetPort } of ports) {
    if (protocol !== "TCP" && protocol !== "UDP") {
      return `Port ${number} of the Service has the protocol ${protocol}. A network load balancer has TCP and UDP only.`;
    }
    const other = merged.get(number);
    const first = ports.find((each) => each.port === number);
    if (first?.nodePort !== nodePort || first?.targetPort !== targetPort) {
      return `Port ${number} of the Service has TCP and UDP that go to different ports. Give both the same nodePort and targetPort.`;
    }
    merged.set(number, {
      protocol: other === undefined ? protocol : "TCP_UDP",
      port: number,
      nodePort,
      name: other?.name ?? name,
    });
  }
  return [...merged.values()];
}

const addressSchema = z.object({
  status: z.object({
    loadBalancer: z
      .object({ ingress: z.array(z.looseObject({ hostname: z.string().optional() })).default([]) })
      .default({ ingress: [] }),
  }),
});

const hasAddress = (service: KubeObject, hostname: string): boolean => {
  const { ingress } = addressSchema.parse(service).status.loadBalancer;
  return ingress.length === 1 && ingress[0]?.hostname === hostname;
};

/** Writes the address into the status of the Service. With `manage: ObserveOnly` another controller may write there. */
export async function publishAddress(
  context: LoadBalancerContext,
  { object }: BalancedService,
  hostname: string | undefined,
): Promise<void> {
  if (context.spec.manage === "ObserveOnly" || hostname === undefined || hostname === "") return;
  if (!hasAddress(object, hostname)) await patchIngress(context, [{ hostname }]);
}

/**
 * Takes the address out of the status of the Service: before the load balancer is deleted, or if it is gone.
 *
 * @param read the Service if it was read already.
 */
export async function withdrawAddress(context: LoadBalancerContext, read?: BalancedService): Promise<void> {
  const { dnsName } = context.status;
  if (context.spec.manage === "ObserveOnly" || dnsName === undefined) return;
  const service = read?.object ?? (await getService(context));
  if (service !== undefined && hasAddress(service, dnsName)) await patchIngress(context, null);
}

async function patchIngress(
  { client, key, signal }: LoadBalancerContext,
  ingress: readonly object[] | null,
): Promise<void> {
  const body = { status: { loadBalancer: { ingress } } };
  await client.patch(builtin.service, key, { type: "merge", body }, { subresource: "status", signal });
}
