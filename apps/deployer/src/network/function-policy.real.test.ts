import { startRealCluster, type RealCluster } from "@drover/real-cluster";
import {
  defaultEgress,
  type Egress,
  metadataNetworks,
  parseDestinations,
  parseNetworks,
} from "@drover/runtime";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type Connection, evaluate, type Peer } from "../../../../verification/network-policies/evaluate.ts";
import { functionObjects } from "../objects/function-objects.ts";
import { cupSpec, environment } from "../testing/cups.ts";

// Policies are those that a real API server has taken; no network plugin enforces them here, they are evaluated.

const root = new URL("../../../..", import.meta.url).pathname;
const manifests = ["bridge", "deployer", "gateway"].map(
  (part) => `apps/${part}/deploy/network-policies.yaml`,
);
const objects = (
  name: string,
  delivery: "pull" | "webhook",
  egress: Egress,
  monitoring: readonly string[],
  redisUrl = "redis://valkey.drover:6379",
) =>
  functionObjects({ name, namespace: "web", uid: "u" }, cupSpec({ container: { image: "i" }, delivery }), {
    ...environment,
    redisUrl,
    network: { namespace: "drover", monitoring, egress },
  })
    .filter(({ ref }) => ref.kind === "NetworkPolicy")
    .map(({ ref, object }) => ({ apiVersion: `${ref.group}/v1`, kind: ref.kind, ...object }));
const usual = { ...parseDestinations(defaultEgress), except: parseNetworks(metadataNetworks) };
const inside = "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7";
const internet = {
  ...parseDestinations("0.0.0.0/0 ::/0 10.0.0.5/32"),
  except: parseNetworks(`${metadataNetworks} ${inside}`),
};

const shut = { ...parseDestinations("none"), except: [] };

const part = (name: string, namespace = "drover"): Omit<Peer, "ip"> => ({
  namespace,
  labels: { "drover.dev/component": name },
});
const fn = (name: string, namespace = "web"): Omit<Peer, "ip"> => ({
  namespace,
  labels: { "drover.dev/function": name },
});
const peers = {
  bridge: part("bridge"),
  deployer: part("deployer"),
  gateway: part("gateway"),
  redis: part("redis"),
  scraper: part("monitoring"),
  unlabelled: { namespace: "drover" },
  pulling: fn("pulling"),
  called: fn("called"),
  narrow: fn("narrow"),
  shut: fn("shut"),
  watched: fn("watched"),
  addressed: fn("addressed"),
  shutCalled: fn("shut-called"),
  // Pods of a tenant, labelled as the tenant likes.
  asGateway: part("gateway", "tenant"),
  asScraper: part("monitoring", "tenant"),
  asBridge: part("bridge", "tenant"),
  asRedis: part("redis", "tenant"),
  asFunction: fn("pulling", "tenant"),
  asKeda: { namespace: "tenant", labels: { app: "keda-operator" } },
  tenant: { namespace: "tenant", labels: { app: "database" } },
  neighbour: { namespace: "web", labels: { "drover.dev/component": "gateway" } },
  prometheus: { namespace: "monitoring" },
  keda: { namespace: "keda", labels: { app: "keda-operator" } },
  ingress: { namespace: "ingress-nginx" },
  dns: { namespace: "kube-system" },
  apiServer: { ip: "10.0.0.5" },
  machine: { ip: "10.0.0.9" },
  redisMachine: { ip: "10.0.0.7" },
  google6: { ip: "fd20:ce::254" },
  site: { ip: "93.184.216.34" },
  site6: { ip: "2606:2800::1" },
  metadata: { ip: "169.254.169.254" },
  metadata6: { ip: "fd00:ec2::254" },
  alibaba: { ip: "100.100.100.200" },
  podIdentity: { ip: "169.254.170.23" },
  dnsCache: { ip: "169.254.20.10" },
} as const satisfies Readonly<Record<string, Partial<Peer>>>;
type Name = keyof typeof peers;
const names = Object.keys(peers) as Name[];
const peerOf = (name: Name): Peer => ({ ip: `10.244.0.${names.indexOf(name) + 1}`, ...peers[name] });
const portNames: Readonly<Record<number, string>> = { 8080: "http", 8081: "completions", 8082: "hooks" };
const udp = new Set([53]);

/** Every row: target, port, and the allowed sources; those behind the bar are allowed, too. */
const table: readonly (readonly [
  to: Name,
  port: number,
  allowed: readonly Name[],
  refused: readonly Name[],
])[] = [
  [
    "pulling",
    8080,
    ["scraper"],
    ["gateway", "asGateway", "asScraper", "neighbour", "tenant", "prometheus", "called", "site"],
  ],
  ["watched", 8080, ["scraper", "prometheus"], ["gateway", "asScraper", "tenant"]],
  ["pulling", 9090, [], ["scraper", "gateway", "tenant"]],
  [
    "called",
    8080,
    ["gateway", "scraper"],
    ["asGateway", "asScraper", "neighbour", "tenant", "bridge", "deployer", "pulling", "site"],
  ],
  ["called", 22, [], ["gateway", "scraper"]],
  [
    "bridge",
    8080,
    ["prometheus", "scraper"],
    ["asScraper", "asGateway", "pulling", "tenant", "keda", "gateway", "site"],
  ],
  ["bridge", 8082, ["ingress"], ["tenant", "pulling", "asGateway", "prometheus", "site"]],
  [
    "deployer",
    8080,
    ["prometheus", "keda", "scraper"],
    ["asKeda", "asScraper", "pulling", "tenant", "ingress", "unlabelled"],
  ],
  ["scraper", 9090, [], ["tenant", "asGateway", "bridge"]],
  ["gateway", 8080, ["prometheus"], ["called", "asFunction", "tenant"]],
  // The label of functions admits the results of calls, which are signed.
  ["gateway", 8081, ["called", "shutCalled", "asFunction"], ["tenant", "asGateway", "site", "prometheus"]],
  // ... and to Redis, which wants a password.
  [
    "redis",
    6379,
    ["bridge", "deployer", "gateway", "pulling", "narrow", "shut", "asFunction"],
    ["tenant", "asBridge", "asGateway", "unlabelled", "prometheus", "site"],
  ],
  ["redisMachine", 6380, ["addressed", "pulling"], ["shut", "narrow"]],
  ["redisMachine", 6379, ["pulling"], ["addressed"]],
  ["redis", 16379, [], ["bridge", "pulling", "tenant"]],
  ["unlabelled", 80, [], ["tenant", "bridge", "pulling"]],
  ["dns", 53, ["bridge", "gateway", "pulling", "narrow", "shut", "redis"], ["unlabelled"]],
  ["dnsCache", 53, ["bridge", "pulling", "shut"], []],
  [
    "apiServer",
    6443,
    ["bridge", "deployer", "gateway", "pulling", "narrow"],
    ["redis", "unlabelled", "shut"],
  ],
  ["machine", 22, ["pulling"], ["bridge", "deployer", "gateway", "narrow", "shut"]],
  ["machine", 443, ["pulling", "called"], ["narrow", "shut"]],
  ["tenant", 5432, ["pulling"], ["bridge", "deployer", "gateway", "redis", "narrow", "shut"]],
  ["asFunction", 8080, ["gateway"], ["bridge", "deployer", "redis"]],
  ["redis", 6379, [], ["shutCalled"]],
  ["asRedis", 6379, ["pulling"], ["bridge", "deployer", "gateway", "redis", "narrow", "shut"]],
  ["site", 443, ["pulling", "called", "narrow"], ["redis", "shut", "unlabelled"]],
  ["site", 25, ["pulling"], ["gateway", "bridge", "deployer", "shut"]],
  ["site6", 443, ["pulling", "narrow"], ["shut"]],
  ["metadata", 80, [], ["pulling", "called", "narrow", "shut", "bridge", "deployer", "gateway", "redis"]],
  ["metadata", 443, [], ["pulling", "bridge", "deployer", "gateway"]],
  ["metadata", 53, [], ["pulling", "bridge", "deployer", "gateway"]],
  ["metadata6", 443, [], ["pulling", "called", "narrow", "bridge", "deployer", "gateway"]],
  ["google6", 443, [], ["pulling", "called", "narrow", "bridge", "deployer", "gateway", "scraper"]],
  ["alibaba", 443, [], ["pulling", "called", "bridge", "gateway"]],
  ["podIdentity", 80, ["pulling", "called"], ["shut", "narrow", "bridge"]],
];

let cluster: RealCluster;
let policies: readonly object[];
beforeAll(async () => {
  cluster = await startRealCluster();
  policies = await taken();
});
afterAll(() => cluster.stop());

const listSchema = z.looseObject({ items: z.array(z.looseObject({})) });

async function taken(): Promise<readonly object[]> {
  const run = promisify(execFile);
  const apply = async (items: readonly object[]): Promise<void> => {
    const running = run(cluster.kubectl, ["apply", "-f", "-"]);
    running.child.stdin?.end(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    await running;
  };
  const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  await apply(["drover", "web"].map(namespace));
  await apply([
    ...objects("pulling", "pull", usual, []),
    ...objects("called", "webhook", usual, []),
    ...objects("narrow", "pull", internet, []),
    ...objects("watched", "pull", usual, ["monitoring"]),
    ...objects("shut", "pull", shut, []),
    ...objects("shut-called", "webhook", shut, []),
    ...objects("addressed", "pull", shut, [], "rediss://10.0.0.7:6380"),
  ]);
  await run(cluster.kubectl, ["apply", ...manifests.flatMap((file) => ["-f", join(root, file)])]);
  const { stdout } = await run(cluster.kubectl, ["get", "networkpolicies", "-A", "-o", "json"]);
  return listSchema.parse(JSON.parse(stdout)).items;
}

it("reaches its allowed targets and no other, whatever labels a tenant's Pods have", async () => {
  const rows = table.flatMap(([to, port, allowed, refused]) => [
    ...allowed.map((from) => ({ from, to, port, expected: true })),
    ...refused.map((from) => ({ from, to, port, expected: false })),
  ]);
  const connections = rows.map(({ from, to, port }): Connection => {
    const portName = portNames[port];
    return {
      from: peerOf(from),
      to: peerOf(to),
      port,
      protocol: udp.has(port) ? "UDP" : "TCP",
      ...(portName !== undefined && { portName }),
    };
  });
  const verdicts = await evaluate(policies, connections);
  const words = (isAllowed: boolean, { from, to, port }: (typeof rows)[number]): string =>
    `${from} ${isAllowed ? "reaches" : "does not reach"} ${to}:${port}`;
  expect(rows.map((row, at) => words(verdicts[at]?.egress === true && verdicts[at].ingress, row))).toEqual(
    rows.map((row) => words(row.expected, row)),
  );
}, 600_000);

it("connects to no metadata address of any cloud, from a function or a part", async () => {
  const from = [
    "pulling",
    "called",
    "narrow",
    "shut",
    "bridge",
    "deployer",
    "gateway",
    "scraper",
    "redis",
  ] as const;
  const tries = metadataNetworks.split(" ").flatMap((network) => {
    const [ip = ""] = network.split("/");
    return from.flatMap((name) => [80, 443].map((port) => ({ name, from: peerOf(name), to: { ip }, port })));
  });
  expect(tries.length).toBeGreaterThan(150);
  const verdicts = await evaluate(
    policies,
    tries.map(({ name: _, ...connection }) => connection),
  );
  const reached = tries.filter((_, at) => verdicts[at]?.egress !== false);
  expect(reached.map(({ name, to, port }) => `${name} reaches ${to.ip}:${port}`)).toEqual([]);
}, 600_000);
