import { expect, it } from "vitest";
import { functionPolicy, type FunctionPolicyInput } from "./function-policy.ts";

const redis = "redis://redis.store.svc:6379";
const parts = { namespace: "gates", name: "gateway" };
const policyOf = (of: Partial<FunctionPolicyInput>, spec: Partial<FunctionPolicyInput["spec"]> = {}) =>
  functionPolicy({
    name: "cups",
    spec: spec,
    redisUrl: redis,
    gateway: parts,
    network: { namespace: "drover", monitoring: [], egress: { pods: false, networks: [], except: [] } },
    ...of,
  });
const named = (namespace: string) => ({
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
});
const component = (namespace: string, name: string) => ({
  ...named(namespace),
  podSelector: { matchLabels: { "drover.dev/component": name } },
});

it.each([
  ["redis://10.0.0.1:7000", "10.0.0.1/32", 7_000],
  ["redis://10.0.0.1", "10.0.0.1/32", 6_379],
  ["rediss://user:word@[fd00::1]:7000/2", "fd00::1/128", 7_000],
])("a function reaches the Redis of %s at %s, port %d", (redisUrl, cidr, port) => {
  const { egress } = policyOf({ redisUrl });
  expect(egress).toContainEqual({ to: [{ ipBlock: { cidr } }], ports: [{ port, protocol: "TCP" }] });
});

it.each([
  ["redis://redis.store.svc:6379", "store"],
  ["rediss://user:word@redis.store.svc.cluster.local", "store"],
  ["redis://redis.store", "store"],
  ["redis://cache.example.com:6379", undefined],
  ["redis://redis:6379", undefined],
])("a function reaches the Redis of %s in the namespace of that Service: %s", (redisUrl, namespace) => {
  const [, ...others] = policyOf({ redisUrl }).egress;
  expect(others).toEqual(namespace === undefined ? [] : [{ to: [named(namespace)] }]);
});

it("metrics of a function are readable from Drover's namespace and the named ones only", () => {
  const network = { namespace: "drover", monitoring: ["prometheus", "grafana"] };
  const egress = { pods: false, networks: [], except: [] };
  expect(
    policyOf({ network: { ...network, egress } }, { container: { image: "i", port: 9_000 } }),
  ).toMatchObject({
    podSelector: { matchLabels: { "drover.dev/function": "cups" } },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      {
        ports: [{ port: 9_000, protocol: "TCP" }],
        from: [component("drover", "monitoring"), named("prometheus"), named("grafana")],
      },
    ],
  });
});

it("a function that is called is reached by the gateway, answers it, and does not reach Redis", () => {
  const { ingress, egress } = policyOf({}, { delivery: "webhook", container: { image: "i", port: 9_000 } });
  expect(ingress[0]?.from).toEqual([component("gates", "gateway"), component("drover", "monitoring")]);
  expect(egress.slice(1)).toEqual([{ to: [component("gates", "gateway")] }]);
});

it("a function reaches what the settings open to all, and name servers in any case", () => {
  const egress = { pods: true, networks: [], except: [] };
  const rules = policyOf({ network: { namespace: "drover", monitoring: [], egress } }).egress;
  expect(rules.slice(1)).toEqual([{ to: [named("store")] }, { to: [{ namespaceSelector: {} }] }]);
  for (const one of [rules[0], policyOf({}).egress[0]])
    expect(one).toMatchObject({
      ports: [
        { port: 53, protocol: "UDP" },
        { port: 53, protocol: "TCP" },
      ],
    });
});
