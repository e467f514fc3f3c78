import { portOf } from "@drover/controller";
import { isIP } from "node:net";
import { type Egress, egressPeers } from "./egress.ts";
import type { FunctionContext } from "./function-objects.ts";
import type { PartAccount } from "./home.ts";
import { functionLabel } from "./names.ts";

/** The network around functions. */
export interface FunctionNetwork {
  /** The deployer's own namespace. */
  readonly namespace: string;
  /** Namespaces whose Pods may read metrics of functions, beside those of `namespace` that are labelled so. */
  readonly monitoring: readonly string[];
  readonly egress: Egress;
}

/** What of the network a function's policy depends on. */
export interface PolicyOf {
  readonly name: string;
  readonly spec: FunctionContext["spec"];
  readonly network: FunctionNetwork;
  readonly gateway: PartAccount;
  readonly redisUrl: string;
}

/**
 * The NetworkPolicy of a function. Peers are selected by the name of their namespace, which the API server sets
 * (`kubernetes.io/metadata.name`), and by label: every user who may create Pods may set a label.
 *
 * Probes of the kubelet come from the Pod's own node, from which every connection is allowed.
 */
export function functionPolicy({ name, spec, network, gateway, redisUrl }: PolicyOf) {
  const { container, delivery = "pull" } = spec;
  const called = delivery === "webhook";
  const gateways = partsIn(gateway.namespace, "gateway");
  const monitoring = [
    partsIn(network.namespace, "monitoring"),
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
      names,
      ...(redis === undefined ? [] : [redis]),
      // Results of calls that were answered 202 go to the gateway that called.
      ...(called ? [{ to: [gateways] }] : []),
      ...(peers.length > 0 ? [{ to: peers }] : []),
    ],
  };
}

const named = (namespace: string) => ({ matchLabels: { "kubernetes.io/metadata.name": namespace } });

const partsIn = (namespace: string, component: string) => ({
  namespaceSelector: named(namespace),
  podSelector: { matchLabels: { "drover.dev/component": component } },
});

/** Name servers in the cluster, and the cache that NodeLocal DNSCache has on every node, at a link-local address. */
const names = {
  to: [{ namespaceSelector: {} }, { ipBlock: { cidr: "169.254.20.10/32" } }],
  ports: [
    { port: 53, protocol: "UDP" },
    { port: 53, protocol: "TCP" },
  ],
};

/**
 * The rule for Redis. Its URL has an address, or the name and namespace of a Service. Any other name is resolved by DNS, and
 * policies cannot name it: undefined, and its address must be among the networks of `egress`.
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
  // No port: policies see that of the Pod, which need not be the Service's.
  return namespace === undefined || kind !== "svc"
    ? undefined
    : { to: [{ namespaceSelector: named(namespace) }] };
}
