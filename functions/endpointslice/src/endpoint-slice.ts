import { builtin, controllerReference } from "@drover/kube";
import { optional } from "@drover/workloads";
import { kubeObjectSchema } from "@drover/kube";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isHeadless, type ServiceObject } from "./service.ts";

const names = z.array(z.looseObject({ name: z.string() }));
const hints = z.looseObject({ forZones: optional(names), forNodes: optional(names) });
const endpoint = z.looseObject({
  addresses: z.array(z.string()),
  conditions: z
    .looseObject({
      ready: optional(z.boolean()),
      serving: optional(z.boolean()),
      terminating: optional(z.boolean()),
    })
    .prefault({}),
  hostname: optional(z.string()),
  targetRef: optional(
    z.looseObject({
      kind: z.string().optional(),
      namespace: z.string().optional(),
      name: z.string().optional(),
      uid: z.string().optional(),
    }),
  ),
  nodeName: optional(z.string()),
  zone: optional(z.string()),
  hints: optional(hints),
});
export type Endpoint = z.output<typeof endpoint>;

const port = z.looseObject({
  name: z.string().default(""),
  protocol: z.string().default("TCP"),
  port: optional(z.int()),
  appProtocol: optional(z.string()),
});
export type EndpointPort = z.output<typeof port>;

const list = <T extends z.ZodType>(of: T) =>
  z
    .array(of)
    .nullish()
    .transform((all) => all ?? []);

export const endpointSliceSchema = z.looseObject({
  ...kubeObjectSchema.shape,
  addressType: z.string(),
  endpoints: list(endpoint),
  ports: list(port),
});
export type EndpointSlice = z.output<typeof endpointSliceSchema>;

/** The value of the label that distinguishes the slices of this controller from those of others. */
export const controllerName = "endpointslice-controller.k8s.io";
export const labels = {
  serviceName: "kubernetes.io/service-name",
  managedBy: "endpointslice.kubernetes.io/managed-by",
  headless: "service.kubernetes.io/headless",
} as const;
const reserved: readonly string[] = Object.values(labels);

type Labels = Readonly<Record<string, string>>;

const withoutReserved = (all: Labels = {}): Labels =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !reserved.includes(name)));

/** The labels by which runs find a Service's slices. */
export const identityOf = ({ metadata }: ServiceObject) => ({
  [labels.serviceName]: metadata.name,
  [labels.managedBy]: controllerName,
});

/** The labels of a Service's slices: those of the Service, and three of this controller. */
export const labelsOf = (service: ServiceObject): Labels => ({
  ...withoutReserved(service.metadata.labels),
  ...(isHeadless(service) && { [labels.headless]: "" }),
  ...identityOf(service),
});

/** True if the slice has the labels of the Service; the three others are not compared. */
export const hasLabelsOf = (service: ServiceObject, { metadata }: EndpointSlice): boolean =>
  isDeepStrictEqual(withoutReserved(metadata.labels), withoutReserved(service.metadata.labels));

/** True if it was made for this Service, and not for an earlier one of its name. */
export const isOwnedBy = ({ metadata }: EndpointSlice, service: ServiceObject): boolean =>
  (metadata.ownerReferences ?? []).some(
    ({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === "Service" && apiVersion === "v1",
  );

export const ownerReferenceTo = ({ metadata }: ServiceObject) =>
  controllerReference({ ref: builtin.service, metadata });

/**
 * True for the slice of a Service that has no endpoints. As in kube-controller-manager its owner does not matter, and a
 * missing label is equal to an empty one.
 */
export const isPlaceholder = (slice: EndpointSlice, service: ServiceObject): boolean =>
  slice.endpoints.length === 0 &&
  slice.ports.length === 0 &&
  isDeepStrictEqual(withoutEmpty(slice.metadata.labels), withoutEmpty(labelsOf(service)));

const withoutEmpty = (all: Labels = {}): Labels =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));

/** True if the two are equal; a field without a value is equal to none. */
export const isSameEndpoint = (a: Endpoint, b: Endpoint): boolean =>
  isDeepStrictEqual(comparedFields(a), comparedFields(b));

/** The fields that are compared: those beside the hints by which `endpointKey` does not distinguish endpoints. */
const comparedFields = ({ nodeName, zone, conditions, targetRef = {} }: Endpoint) => {
  const { ready, serving, terminating } = conditions;
  const { kind, namespace, name, uid, apiVersion, fieldPath } = targetRef;
  return [nodeName, zone, ready, serving, terminating, kind, namespace, name, uid, apiVersion, fieldPath];
};

/** Identifies an endpoint: a pod has at most one of each address type in the slices of a set of ports. */
export const endpointKey = ({ addresses, hostname = "", targetRef = {} }: Endpoint): string =>
  JSON.stringify([addresses.toSorted(), hostname, targetRef.namespace ?? "", targetRef.name ?? ""]);
