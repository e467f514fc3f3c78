import { type Endpoint, endpointKey } from "../endpoint-slice.ts";
import type { AddressType, ServiceObject } from "../service.ts";
import type { EndpointGroup } from "../slices/pack-endpoints.ts";
import { endpointOf } from "./endpoint.ts";
import type { EndpointPod } from "./endpoint-pod.ts";
import { endpointPortsOf, inHashOrder, portsKey } from "./endpoint-ports.ts";
import type { Zones } from "./read-nodes.ts";

interface GroupOptions {
  readonly addressType: AddressType;
  readonly zones: Zones;
}

/**
 * The endpoints of pods, in a group for each set of ports. A pod whose node does not exist has none, and is a problem,
 * unless the Service publishes pods that are not ready, too.
 */
export function groupByPorts(
  pods: readonly EndpointPod[],
  service: ServiceObject,
  { addressType, zones }: GroupOptions,
): { readonly groups: readonly EndpointGroup[]; readonly problems: readonly Error[] } {
  const groups = new Map<string, EndpointGroup & { readonly endpoints: Map<string, Endpoint> }>();
  const problems: Error[] = [];
  for (const pod of pods) {
    const ports = endpointPortsOf(service, pod);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports: inHashOrder(ports), endpoints: new Map<string, Endpoint>() };
    groups.set(key, group);
    const { nodeName = "" } = pod.spec;
    if (!zones.has(nodeName) && !service.spec.publishNotReadyAddresses) {
      problems.push(missingNode(pod, service));
      continue;
    }
    const endpoint = endpointOf(pod, service, { addressType, zone: zones.get(nodeName) });
    if (endpoint.addresses.length > 0) group.endpoints.set(endpointKey(endpoint), endpoint);
  }
  return { groups: [...groups.values()], problems };
}

/** The message is that of kube-controller-manager. */
const missingNode = ({ metadata, spec }: EndpointPod, { metadata: service }: ServiceObject): Error =>
  new Error(
    `skipping Pod ${metadata.name} for Service ${service.namespace ?? ""}/${service.name}: Node ${spec.nodeName ?? ""} Not Found`,
  );
