import type { EndpointPort } from "../endpoint-slice.ts";
import type { ServiceObject, ServicePort } from "../service.ts";
import type { EndpointPod } from "./endpoint-pod.ts";
import { portHash } from "./port-hash.ts";

/** The ports of a Service on a pod, in no order. A port whose name no container of the pod has is left out. */
export function endpointPortsOf(
  { spec: { ports } }: ServiceObject,
  pod: EndpointPod,
): readonly EndpointPort[] {
  return ports.flatMap((port) => {
    const number = portNumber(port, pod);
    const { name, protocol, appProtocol } = port;
    return number === undefined ? [] : [{ name, port: number, protocol, appProtocol }];
  });
}

/** The number of a port on a pod, by the name of a port of a container, or of a sidecar. */
function portNumber({ targetPort, protocol }: ServicePort, { spec }: EndpointPod): number | undefined {
  if (typeof targetPort === "number") return targetPort;
  const sidecars = spec.initContainers.filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...spec.containers, ...sidecars]
    .flatMap(({ ports }) => ports)
    .find((port) => port.name === targetPort && port.protocol === protocol)?.containerPort;
}

/** The ports of a slice in their order: kube-controller-manager sorts them by their hash. */
export const inHashOrder = (ports: readonly EndpointPort[]): readonly EndpointPort[] =>
  ports
    .map((port) => ({ port, hash: portHash(port) }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1))
    .map(({ port }) => port);

/** Equal for equal ports, in any order: such endpoints share slices. */
export const portsKey = (ports: readonly EndpointPort[]): string =>
  JSON.stringify(
    ports
      .map(({ name, port, protocol, appProtocol }) => JSON.stringify([name, port, protocol, appProtocol]))
      .sort(),
  );
