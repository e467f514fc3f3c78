import { isReady } from "@drover/workloads";
import { isIPv6 } from "node:net";
import type { Endpoint } from "../endpoint-slice.ts";
import type { AddressType, ServiceObject } from "../service.ts";
import type { EndpointPod } from "./endpoint-pod.ts";

/** The endpoint of a pod. It may have no address of this type. */
export function endpointOf(
  pod: EndpointPod,
  service: ServiceObject,
  { addressType, zone }: { readonly addressType: AddressType; readonly zone: string | undefined },
): Endpoint {
  const { namespace, name, uid, deletionTimestamp } = pod.metadata;
  const { nodeName, hostname, subdomain } = pod.spec;
  const serving = isReady(pod);
  const terminating = deletionTimestamp !== undefined;
  const ready = service.spec.publishNotReadyAddresses || (serving && !terminating);
  const hasHostname = hostname !== "" && subdomain === service.metadata.name;
  return {
    addresses: pod.status.podIPs
      .map(({ ip }) => canonicalAddress(ip))
      .filter((ip) => isIPv6(ip) === (addressType === "IPv6")),
    conditions: { ready, serving, terminating },
    hostname: hasHostname ? hostname : undefined,
    targetRef: { kind: "Pod", namespace, name, uid },
    nodeName,
    zone,
    hints: undefined,
  };
}

/** As Go writes it: without leading zeros, and an IPv6 address in its shortest form. */
function canonicalAddress(ip: string): string {
  if (isIPv6(ip)) return new URL(`http://[${ip}]/`).hostname.slice(1, -1);
  return ip.split(".").map(Number).join(".");
}
