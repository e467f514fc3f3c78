import { functionLabel, portOf, type ReconcileFunctionSpec } from "@drover/controller";
import { isIP } from "node:net";
import { type Egress, egressPeers } from "./egress.ts";

/** The network settings of an installation, the same for all functions. */
export interface FunctionNetwork {
  /** The namespace of Drover's parts. */
  readonly namespace: string;
  /**
   * Namespaces with Pods that may read metrics of functions, in addition to the Pods in `namespace` with the component
   * label `monitoring`.
   */
  readonly monitoring: readonly string[];
  readonly egress: Egress;
}

/** The input of a function's NetworkPolicy. */
export interface FunctionPolicyInput {
  readonly name: string;
  readonly spec: Pick<ReconcileFunctionSpec, "container" | "delivery">;
  readonly network: FunctionNetwork;
  readonly gateway: { readonly namespace: string };
  readonly redisUrl: string;
}

/**
 * The spec of a function's NetworkPolicy. Peers are selected by label and by the name of their namespace, which the API
 * server sets (`kubernetes.io/metadata.name`). The label alone would not do: every user that may create Pods may set
 * it.
 *
 * The kubelet's probes need no rule, because every connection from a Pod's own node is allowed.
 */
export function functionPolicy({ name, spec, network, gateway, redisUrl }: FunctionPolicyInput) {
  const { container, delivery = "pull" } = spec;
  const called = delivery === "webhook";
  const gateways = componentPeer(gateway.namespace, "gateway");
  const monitoring = [
    componentPeer(network.namespace, "monitoring"),
    ...network.monitoring.map((namespace) => ({ namespaceSelector: named(namespace) })),
  ];
  const peers = egressPeers(network.egress);
  const redis = called ? undefined : redisPeer(redisUrl);
  return {
    podSelector: { matchLabels: { [functionLabel]: name } },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      {
        ports: [{ port: portOf(container ?? {}), protocol: "TCP" }],
        from: [...(called ? [gateways] : []), ...monitoring],
      },
    ],
    egress: [
      dnsRule,
      ...(redis === undefined ? [] : [redis]),
      // The function sends the results of calls that it answered with 202 to the gateway.
      ...(called ? [{ to: [gateways] }] : []),
      ...(peers.length > 0 ? [{ to: peers }] : []),
    ],
  };
}

const named = (namespace: string) => ({ matchLabels: { "kubernetes.io/metadata.name": namespace } });

const componentPeer = (namespace: string, component: string) => ({
  namespaceSelector: named(namespace),
  podSelector: { matchLabels: { "drover.dev/component": component } },
});

/** DNS: name servers in the cluster, and the cache of NodeLocal DNSCache on every node, at a link-local address. */
const dnsRule = {
  to: [{ namespaceSelector: {} }, { ipBlock: { cidr: "169.254.20.10/32" } }],
  ports: [
    { port: 53, protocol: "UDP" },
    { port: 53, protocol: "TCP" },
  ],
};

/**
 * The rule for Redis, if its URL has an address, or the name and namespace of a Service. Undefined for any other name:
 * it is resolved by DNS, and policies cannot contain it, so the networks of `egress` must include its address.
 */
function redisPeer(text: string): object | undefined {
  const { hostname, port } = new URL(text);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const version = isIP(host);
  if (version !== 0) {
    const to = [{ ipBlock: { cidr: `${host}/${version === 4 ? 32 : 128}` } }];
    return { to, ports: [{ port: port === "" ? 6_379 : Number(port), protocol: "TCP" }] };
  }
  const [, namespace, kind = "svc"] = host.split(".");
  // No port: a policy refers to the Pod's port, which may differ from the Service's.
  return namespace === undefined || kind !== "svc"
    ? undefined
    : { to: [{ namespaceSelector: named(namespace) }] };
}
