// Fields of Services, slices and pods.
import { isObject, listAt, objectAt, textAt, textsAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import { isLeaving, isReady } from "../sequences/kinds.ts";

/** Few, so that short sequences fill several slices. */
export const maxEndpoints = 4;
export const zoneLabel = "topology.kubernetes.io/zone";
const nameLabel = "kubernetes.io/service-name";
export const managedByLabel = "endpointslice.kubernetes.io/managed-by";

/** The labels that the controller sets; a Service may have them, too. */
export const reservedLabels: readonly string[] = [
  nameLabel,
  managedByLabel,
  "service.kubernetes.io/headless",
];

/** The Service whose slice it is, if this controller manages it. */
export const serviceOf = (slice: Json): string | undefined =>
  textAt(slice, "metadata", "labels", managedByLabel) === "endpointslice-controller.k8s.io"
    ? textAt(slice, "metadata", "labels", nameLabel)
    : undefined;

export const selectorOf = (service: Json): JsonObject => objectAt(service, "spec", "selector");
/** Its slices are written by this controller. */
export const isReconciled = (service: Json): boolean =>
  Object.keys(selectorOf(service)).length > 0 && textAt(service, "spec", "type") !== "ExternalName";
export const isSelectedBy = (service: Json, pod: Json): boolean =>
  Object.entries(selectorOf(service)).every(
    ([key, value]) => textAt(pod, "metadata", "labels", key) === value,
  );
export const publishesAll = (service: Json): boolean =>
  objectAt(service, "spec")["publishNotReadyAddresses"] === true;
export const familiesOf = (service: Json): readonly string[] => textsAt(service, "spec", "ipFamilies");

export const addressesOf = (pod: Json): readonly string[] =>
  listAt(pod, "status", "podIPs").flatMap((one) => textAt(one, "ip") ?? []);

/** Ready, serving, terminating. */
export function conditionsOf(service: Json, pod: Json): readonly boolean[] {
  const [serving, terminating] = [isReady(pod), isLeaving(pod)];
  return [publishesAll(service) || (serving && !terminating), serving, terminating];
}

/** The number of a port of a Service on a pod, if the pod has it. */
function portOn(pod: Json, port: Json): Json | undefined {
  const target = objectAt({ port })["port"];
  const wanted = isObject(target) ? target["targetPort"] : undefined;
  if (typeof wanted !== "string") return wanted;
  const sidecars = listAt(pod, "spec", "initContainers").filter(
    (one) => textAt(one, "restartPolicy") === "Always",
  );
  return [...listAt(pod, "spec", "containers"), ...sidecars]
    .flatMap((container) => listAt(container, "ports"))
    .filter(isObject)
    .find(
      (one) => one["name"] === wanted && (one["protocol"] ?? "TCP") === (textAt(port, "protocol") ?? "TCP"),
    )?.["containerPort"];
}

/** Ports as text, in order. */
export const portsText = (
  ports: readonly {
    readonly name: string | undefined;
    readonly port: Json | undefined;
    readonly protocol: string | undefined;
    readonly app: string | undefined;
  }[],
): string => JSON.stringify(ports.map((one) => Object.values(one).map((value) => value ?? "")).sort());

/** The ports of a pod's endpoints. */
export const expectedPorts = (service: Json, pod: Json): string =>
  portsText(
    listAt(service, "spec", "ports").flatMap((one) => {
      const port = portOn(pod, one);
      return port === undefined
        ? []
        : [
            {
              name: textAt(one, "name"),
              port,
              protocol: textAt(one, "protocol"),
              app: textAt(one, "appProtocol"),
            },
          ];
    }),
  );

/** The ports of a slice. */
export const portsOf = (slice: Json): string =>
  portsText(
    listAt(slice, "ports")
      .filter(isObject)
      .map((one) => ({
        name: textAt(one, "name"),
        port: one["port"],
        protocol: textAt(one, "protocol"),
        app: textAt(one, "appProtocol"),
      })),
  );
