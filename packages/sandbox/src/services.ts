// Services: their fields and defaults, what is wrong with them, and what an update keeps (core/v1; registry/core/service).
import { duplicate, forbidden, invalid, notSupported, required, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, isObject, listAt, objectAt, omit, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { labelErrors, nameFaults } from "./names.ts";
import type { Behaviour } from "./resource-type.ts";
import {
  always,
  anyObject,
  apiCondition,
  atomic,
  fields,
  listBy,
  listOf,
  omitted,
  or,
  string,
  struct,
} from "./schema-words.ts";
import { addressBehaviour } from "./service-addresses.ts";

const port = struct(
  { text: "name", kept: "appProtocol", integer: "port", number: "nodePort", port: "targetPort" },
  { protocol: { ...or(string, "TCP"), "x-omitempty": true } },
);
const whole = omitted({ type: "integer" });
export const serviceSchema: JsonObject = fields({
  spec: always(
    struct(
      {
        text: "clusterIP loadBalancerIP externalName externalTrafficPolicy",
        kept: "ipFamilyPolicy loadBalancerClass internalTrafficPolicy trafficDistribution",
        texts: "clusterIPs externalIPs loadBalancerSourceRanges ipFamilies",
        flag: "publishNotReadyAddresses",
        boolean: "allocateLoadBalancerNodePorts",
      },
      {
        healthCheckNodePort: whole,
        ports: listBy("port protocol", port),
        selector: atomic({ type: "object", additionalProperties: string }),
        sessionAffinity: { ...or(string, "None"), "x-omitempty": true },
        type: { ...or(string, "ClusterIP"), "x-omitempty": true },
        sessionAffinityConfig: fields({
          clientIP: fields({ timeoutSeconds: or({ type: "integer" }, 10_800) }),
        }),
      },
    ),
  ),
  status: always(
    fields({
      loadBalancer: always(
        fields({
          ingress: listOf(struct({ text: "ip hostname", kept: "ipMode" }, { ports: listOf(anyObject) })),
        }),
      ),
      conditions: listBy("type", apiCondition),
    }),
  ),
});

function completedPort(given: Json): Json {
  if (!isObject(given)) return given;
  const target = field(given, "targetPort") ?? "";
  return target === "" || target === 0 ? { ...given, targetPort: field(given, "port") ?? 0 } : given;
}

const outside = (type: string, spec: JsonObject): boolean =>
  type === "NodePort" ||
  type === "LoadBalancer" ||
  (type === "ClusterIP" && listAt(spec, "externalIPs").length > 0);

function completed(service: KubeObject, old: KubeObject | undefined): KubeObject {
  const spec = objectAt(service, "spec");
  const type = textAt(spec, "type") ?? "ClusterIP";
  const clients = textAt(spec, "sessionAffinity") === "ClientIP";
  const isExternal = type === "ExternalName";
  const more: JsonObject = {
    ...(field(spec, "ports") !== undefined && { ports: listAt(spec, "ports").map(completedPort) }),
    ...(clients && {
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
      ...objectOnly(spec, "sessionAffinityConfig"),
    }),
    ...(!isExternal && {
      internalTrafficPolicy:
        field(spec, "internalTrafficPolicy") ?? field(old, "spec", "internalTrafficPolicy") ?? "Cluster",
    }),
    ...(outside(type, spec) && { externalTrafficPolicy: textAt(spec, "externalTrafficPolicy") ?? "Cluster" }),
    ...(type === "LoadBalancer" && {
      allocateLoadBalancerNodePorts: field(spec, "allocateLoadBalancerNodePorts") ?? true,
    }),
  };
  const rest = clients ? spec : omit(spec, "sessionAffinityConfig");
  return withTop(service, "spec", { ...rest, ...more });
}

/** What the server allots, and an update keeps. */
function admitted(service: KubeObject, old: KubeObject | undefined): KubeObject {
  const spec = objectAt(service, "spec");
  if (old && equal(spec, objectAt(old, "spec"))) return service;
  const kept = (key: string, byDefault: Json): JsonObject => ({
    [key]: field(spec, key) ?? field(old, "spec", key) ?? byDefault,
  });
  // Without a selector nobody knows of which families the addresses behind it are: all of them.
  const isOpen = textAt(spec, "clusterIP") === "None" && Object.keys(objectAt(spec, "selector")).length === 0;
  const families = {
    ...kept("ipFamilies", isOpen ? ["IPv4", "IPv6"] : ["IPv4"]),
    ...kept("ipFamilyPolicy", isOpen ? "RequireDualStack" : "SingleStack"),
    ...(textAt(spec, "clusterIP") === "None" && { clusterIPs: ["None"] }),
  };
  const isExternal = textAt(spec, "type") === "ExternalName";
  const whole = isExternal ? service : withTop(service, "spec", { ...spec, ...families });
  return addressBehaviour.admitted?.(whole, old) ?? whole;
}
const objectOnly = (value: JsonObject, key: string): JsonObject => {
  const found = field(value, key);
  return found === undefined ? {} : { [key]: found };
};

const range = "must be between 1 and 65535, inclusive";
const isPort = (value: Json | undefined): boolean =>
  typeof value === "number" && value >= 1 && value <= 65535;

function portErrors(ports: readonly Json[]): FieldError[] {
  const names = ports.map((one) => textAt(one, "name") ?? "");
  const identity = (one: Json): string => JSON.stringify([field(one, "port"), field(one, "protocol")]);
  return ports.flatMap((one, i) => {
    const at = `spec.ports[${i}]`;
    const [name = "", number, target] = [names[i], field(one, "port") ?? 0, field(one, "targetPort")];
    const protocol = textAt(one, "protocol") ?? "";
    return [
      ...when(ports.length > 1 && name === "", required(`${at}.name`)),
      ...(name === "" ? [] : nameFaults("label", name).map((fault) => invalid(`${at}.name`, name, fault))),
      ...when(name !== "" && names.indexOf(name) < i, duplicate(`${at}.name`, name)),
      ...when(!isPort(number), invalid(`${at}.port`, number, range)),
      ...when(
        !["SCTP", "TCP", "UDP"].includes(protocol),
        notSupported(`${at}.protocol`, protocol, ["SCTP", "TCP", "UDP"]),
      ),
      ...when(typeof target === "number" && !isPort(target), invalid(`${at}.targetPort`, target ?? 0, range)),
      ...when(
        ports.findIndex((other) => identity(other) === identity(one)) < i,
        duplicate(at, { protocol, port: number }),
      ),
    ];
  });
}

function errors(service: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = objectAt(service, "spec");
  const type = textAt(spec, "type") ?? "";
  const affinity = textAt(spec, "sessionAffinity") ?? "";
  const ports = listAt(spec, "ports");
  const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
  const isHeadless = textAt(spec, "clusterIP") === "None";
  const name = textAt(spec, "externalName") ?? "";
  return [
    ...(old ? (addressBehaviour.errors?.(service, old) ?? []) : []),
    ...when(ports.length === 0 && !isHeadless && type !== "ExternalName", required("spec.ports")),
    ...when(
      type === "ExternalName" && name === "",
      required("spec.externalName", "must be a valid DNS name"),
    ),
    ...portErrors(ports),
    ...labelErrors(objectAt(spec, "selector"), "spec.selector"),
    ...when(
      !["ClientIP", "None"].includes(affinity),
      notSupported("spec.sessionAffinity", affinity, ["ClientIP", "None"]),
    ),
    ...when(!types.includes(type), notSupported("spec.type", type, types)),
    ...when(
      type !== "LoadBalancer" && listAt(service, "status", "loadBalancer", "ingress").length > 0,
      forbidden("status.loadBalancer.ingress", "may only be used when `spec.type` is 'LoadBalancer'"),
    ),
  ];
}

/** Services of type ClusterIP have an address, which they keep. */
export const serviceBehaviour: Behaviour = {
  leavesMetadata: "whole",
  ...(addressBehaviour.allotted && { allotted: addressBehaviour.allotted }),
  completed,
  admitted,
  errors,
};
