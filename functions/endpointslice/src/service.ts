import { foreignResource } from "@drover/controller";
import { objectSchemaOf, optional } from "@drover/workloads";
import { isIPv6 } from "node:net";
import { z } from "zod";

const port = z.looseObject({
  name: z.string().default(""),
  protocol: z.string().default("TCP"),
  /** The number, or the name of a port of the pod's containers. */
  targetPort: z.union([z.int(), z.string()]),
  appProtocol: optional(z.string()),
});
export type ServicePort = z.output<typeof port>;

const spec = z.looseObject({
  type: z.string().default("ClusterIP"),
  selector: optional(z.record(z.string(), z.string())),
  ports: z.array(port).default([]),
  clusterIP: z.string().default(""),
  ipFamilies: z.array(z.string()).default([]),
  publishNotReadyAddresses: z.boolean().default(false),
  trafficDistribution: optional(z.string()),
});

/** `v1` Service. */
export const Service = foreignResource({
  group: "",
  version: "v1",
  kind: "Service",
  scope: "Namespaced",
  spec,
  status: z.looseObject({}),
});

export const serviceSchema = objectSchemaOf(spec, z.looseObject({}).prefault({}));
export type ServiceObject = z.output<typeof serviceSchema>;

export type AddressType = "IPv4" | "IPv6";

/** True if it has no address of its own. */
export const isHeadless = ({ spec: { clusterIP } }: ServiceObject): boolean =>
  clusterIP === "" || clusterIP === "None";

/**
 * The address types of its slices. A Service without families is one that an API server before 1.20 has stored: then they
 * follow from its address, and a headless one has both.
 */
export function addressTypesOf(service: ServiceObject): readonly AddressType[] {
  const { ipFamilies, clusterIP } = service.spec;
  const types = (["IPv4", "IPv6"] as const).filter((type) => ipFamilies.includes(type));
  if (types.length > 0) return types;
  if (isHeadless(service)) return ["IPv4", "IPv6"];
  return [isIPv6(clusterIP) ? "IPv6" : "IPv4"];
}
