import { egressPeers } from "@drover/runtime";
import { afterEach, expect, it, vi } from "vitest";
import { functionConfig } from "./config.ts";

afterEach(() => vi.unstubAllEnvs());
const given = (env: Readonly<Record<string, string>>) => {
  for (const name of Object.keys(process.env)) if (name.startsWith("DROVER_")) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries({ DROVER_REDIS_URL: "redis://127.0.0.1", ...env }))
    vi.stubEnv(name, value);
  return functionConfig();
};
const peersWith = (env: Readonly<Record<string, string>>): readonly object[] => {
  const { functionsEgress, functionsEgressExcept: except } = given(env);
  return egressPeers({ ...functionsEgress, except });
};

it("closes metadata addresses to functions, and nothing else, by default", () => {
  expect(peersWith({})).toEqual([
    { namespaceSelector: {} },
    {
      ipBlock: {
        cidr: "0.0.0.0/0",
        except: ["169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32"],
      },
    },
    {
      ipBlock: {
        cidr: "::/0",
        except: [
          "fe80::/10",
          "fd00:ec2::/32",
          "fd20:ce::254/128",
          "fd00:c1::a9fe:a9fe/128",
          "fd00:42::42/128",
          "fd00:a9fe:a9fe::1/128",
        ],
      },
    },
    { ipBlock: { cidr: "169.254.170.23/32" } },
    { ipBlock: { cidr: "fd00:ec2::23/128" } },
  ]);
  expect(peersWith({ DROVER_FUNCTIONS_EGRESS: "none" })).toEqual([]);
  expect(peersWith({ DROVER_FUNCTIONS_EGRESS: "::/0", DROVER_FUNCTIONS_EGRESS_EXCEPT: "none" })).toEqual([
    { ipBlock: { cidr: "::/0" } },
  ]);
});

it.each([
  [{ DROVER_FUNCTIONS_EGRESS: "10.0.0.0" }, /DROVER_FUNCTIONS_EGRESS=.* is not a network. Write/],
  [
    { DROVER_FUNCTIONS_EGRESS_EXCEPT: "10.0.0.1/8" },
    /DROVER_FUNCTIONS_EGRESS_EXCEPT=.*does not begin at 10.0.0.1/,
  ],
  [
    { DROVER_FUNCTIONS_REDIS_URL: "redis://deployer:s3cret@redis.drover:6379" },
    /DROVER_FUNCTIONS_REDIS_URL cannot be used: give a URL .* without a user/,
  ],
  ...["?password=s3cret", "/0?password=s3cret", "?cluster=true&password=s3cret", "#s3cret"].map(
    (more): [Record<string, string>, RegExp] => [
      { DROVER_FUNCTIONS_REDIS_URL: `redis://redis.drover:6379${more}` },
      /DROVER_FUNCTIONS_REDIS_URL cannot be used: give a URL .* without a user, a password or parameters/,
    ],
  ),
  ...[
    { DROVER_REDIS_URL: "redis://deployer@valkey.drover:6379" },
    { DROVER_REDIS_URL: "rediss://valkey.drover:6379" },
    { DROVER_REDIS_URL: "rediss://deployer:s3cret@valkey.drover:6379" },
    { DROVER_REDIS_URL: "rediss://deployer@valkey.drover:6379?cluster=true" },
    { DROVER_REDIS_URL: "rediss://deployer@a:7000,b:7001", DROVER_FUNCTIONS_REDIS_URL: "rediss://a:7000" },
  ].map((env): [Record<string, string>, RegExp] => [
    { ...env, DROVER_REDIS_SECRETS: "made" },
    /DROVER_REDIS_SECRETS="made" cannot be used: for made, give the URL of one server with TLS and a user/,
  ]),
  [
    { DROVER_FUNCTIONS_REDIS_URL: "redis://a:7000,b:7001" },
    /DROVER_FUNCTIONS_REDIS_URL cannot be used: give a URL/,
  ],
  [
    { DROVER_MONITORING_NAMESPACES: "monitoring Prometheus" },
    /DROVER_MONITORING_NAMESPACES=.*name of a namespace/,
  ],
  ...["gateway", "drover/gateway/1", "Drover/gateway", "drover/", "/gateway", "drover/my gateway"].map(
    (account): [Record<string, string>, RegExp] => [
      { DROVER_GATEWAY_ACCOUNT: account },
      /DROVER_GATEWAY_ACCOUNT=.* give namespace and name, such as drover\/gateway/,
    ],
  ),
])("refuses %j, with what to write", (env, problem) => expect(() => given(env)).toThrow(problem));

it("takes ServiceAccounts as namespace and name", () => {
  expect(given({ DROVER_BRIDGE_ACCOUNT: "team-a/bridge.v2" })).toMatchObject({
    bridgeAccount: { namespace: "team-a", name: "bridge.v2" },
    gatewayAccount: { namespace: "drover", name: "gateway" },
  });
});

it("takes several namespaces of what scrapes", () => {
  expect(given({ DROVER_MONITORING_NAMESPACES: "monitoring, metrics" }).monitoringNamespaces).toEqual([
    "monitoring",
    "metrics",
  ]);
});

it("wants one address for Pods, where its own URL names several nodes of a cluster", () => {
  const nodes = { DROVER_REDIS_URL: "redis://u:s3cret@a:7000,redis://b:7001" };
  expect(() => given(nodes)).toThrow("DROVER_FUNCTIONS_REDIS_URL is not set. Set it.");
  const one = "redis://redis.drover:7000?cluster=true";
  expect(given({ ...nodes, DROVER_FUNCTIONS_REDIS_URL: one }).functionsRedisUrl).toBe(one);
});

it("takes the address of Redis for Pods, with a database where there is one", () => {
  for (const url of ["redis://redis.drover:6379", "rediss://redis.drover/2", "redis://redis:1?cluster=true"])
    expect(given({ DROVER_FUNCTIONS_REDIS_URL: url }).functionsRedisUrl).toBe(url);
});
