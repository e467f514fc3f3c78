import { objectKey } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { once } from "node:events";
import { Agent, createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { greetings } from "../../../../packages/calls/src/calling.fixture.ts";
import { post } from "../../../../packages/calls/src/post.ts";
import type { WebhookFunction } from "@drover/calls";
import { parseNetworks } from "./addresses.ts";
import { parseAllowed } from "./allowed-urls.ts";
import { targetOf, type TargetRules } from "./target.ts";

/** Listens inside, where no function's URL may lead. */
const canaries: Server[] = [];
let port: number;
let hits: string[];

beforeAll(async () => {
  for (const host of ["127.0.0.1", "::1", "127.0.0.2"]) {
    const server = createServer((incoming, response) => {
      hits.push(`${host} ${incoming.headers.host ?? ""}`);
      response.end();
    }).listen(canaries.length === 0 ? 0 : port, host);
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
    canaries.push(server);
  }
});
beforeEach(() => void (hits = []));
afterAll(() => canaries.forEach((server) => server.close()));

/** The addresses of names, as an attacker sets them up in a zone of their own. */
const zone: Readonly<Record<string, readonly string[]>> = {
  "in.example.com": ["127.0.0.1"],
  "in6.example.com": ["::1"],
  "both.example.com": ["93.184.216.34", "127.0.0.1"],
  "mapped.example.com": ["::ffff:127.0.0.1"],
  "nat64.example.com": ["64:ff9b::7f00:1"],
  "sixtofour.example.com": ["2002:7f00:1::"],
  "metadata.example.com": ["169.254.169.254"],
  "zero.example.com": ["0.0.0.0"],
  "scoped.example.com": ["fe80::1%lo"],
  "nothing.example.com": [],
  "text.example.com": ["localhost"],
  localhost: ["127.0.0.1", "::1"],
  "localhost.": ["127.0.0.1"],
  "127.0.0.1.nip.io": ["127.0.0.1"],
};
const resolve = (host: string): Promise<readonly string[]> =>
  Promise.resolve(zone[host] ?? (host.includes("127") || host.includes("local") ? ["127.0.0.1"] : []));

/** Whatever is written for a host, with the canary's port behind it. */
const hosts = [
  ...["127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "127.255.255.254", "0", "0.0.0.0", "00.00.00.00"],
  ...[
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "0x7f.1",
    "127.0.0.1.",
    "127.1.",
  ],
  ...[
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.01",
    "127.0x0.0.1",
    "4294967296",
    "3232235521",
    "0x7F000001",
    "127.00000.1",
  ],
  ...[
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
  ],
  ...[
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
  ],
  ...[
    "[fe80::1]",
    "[fe80::1%25lo]",
    "[fc00::1]",
    "[fd00::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[100::1]",
  ],
  ...[
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::1%25lo]",
    "[::%31]",
    "[3fff::1]",
    "[5f00::1]",
    "[::ffff:169.254.169.254]",
  ],
  ...[
    "localhost",
    "LOCALHOST",
    "localhost.",
    "LocalHost",
    "localhost.localdomain",
    "local%68ost",
    "lоcalhost",
  ],
  ...[
    "ｌｏｃａｌｈｏｓｔ",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "xn--lcalhost-5fh",
    "ⓛocalhost",
  ],
  ...[
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "192.0.0.192",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
  ],
  ...[
    "192.168.0.1",
    "100.64.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
  ],
  ...[
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "metadata.google.internal",
    "kubernetes.default.svc",
  ],
  ...["in.example.com", "in6.example.com", "both.example.com", "mapped.example.com", "nat64.example.com"],
  ...["sixtofour.example.com", "metadata.example.com", "zero.example.com", "scoped.example.com"],
  ...[
    "nothing.example.com",
    "text.example.com",
    "127.0.0.1.nip.io",
    "127.0.0.1.example.com",
    "local.example.com",
  ],
  ...[
    "user@127.0.0.1",
    "user:pass@127.0.0.1",
    "hooks.example.com@127.0.0.1",
    "hooks.example.com%40127.0.0.1",
  ],
  ...[
    "127.0.0.1\\@hooks.example.com",
    "hooks.example.com\\@127.0.0.1",
    "127.0.0.1\t",
    "127.0.\n0.1",
    "127.0.0.1%00",
  ],
  ...[
    "hooks.example.com@127.0.0.1@hooks.example.com",
    "127.0.0.1%2523",
    "127.0.0.1%09",
    "%31%32%37.0.0.1",
    "127.0.0.1;a",
  ],
];
const forms: readonly ((port: number) => string)[] = [
  ...hosts.map((host) => (at: number) => `http://${host}:${at}`),
  (at) => `http://127.0.0.1:${at}#@hooks.example.com`,
  (at) => `http://127.0.0.1:${at}?@hooks.example.com`,
  (at) => `http:\\\\127.0.0.1:${at}`,
  (at) => `http:127.0.0.1:${at}`,
  (at) => `http:/127.0.0.1:${at}`,
  (at) => `http:///127.0.0.1:${at}`,
  (at) => `//127.0.0.1:${at}`,
  (at) => `HTTP://127.0.0.1:${at}`,
  (at) => ` http://127.0.0.1:${at}`,
  (at) => `file://127.0.0.1:${at}/etc/passwd`,
  (at) => `gopher://127.0.0.1:${at}`,
  (at) => `http://hooks.example.com:${at}:${at}@127.0.0.1:${at}`,
  (at) => `http://127.0.0.1:0${at}`,
  (at) => `http://127.0.0.1:${at}/..//127.0.0.1`,
];

const client = { get: () => Promise.resolve(undefined) };
const nowhere = parseNetworks([]);
const loopback = parseNetworks(["127.0.0.0/8", "::1/128"]);
const named = (): TargetRules => ({
  client,
  resolve,
  networks: nowhere,
  unselected: false,
  allowed: parseAllowed([`http://*.example.com:${port}`, `https://hooks.example.com`]),
});
/** The most that can be allowed: all names, and all addresses. Only what is inside is left to refuse. */
const anything = (): TargetRules => ({ ...named(), allowed: parseAllowed([`http://*:${port}`]) });

/** Calls it as a function's URL; what keeps it from being called, or nothing. */
async function attempt(url: string, rules: TargetRules, path = "/"): Promise<string | undefined> {
  const fn: WebhookFunction = { ...greetings, url, path };
  const signal = AbortSignal.timeout(5_000);
  const agent = new Agent();
  try {
    const target = await targetOf(fn, rules, signal);
    await post({ target, headers: {}, body: Buffer.from("{}"), most: 100, agent, signal });
    return undefined;
  } catch (error) {
    return String(error);
  } finally {
    agent.destroy();
  }
}

it("there are 120 ways to write it", () => {
  expect(new Set(forms.map((form) => form(1))).size).toBeGreaterThanOrEqual(120);
});

it.each([
  ["some names are allowed", named],
  ["all are", anything],
])("no URL leads inside, where %s", async (_what, rules) => {
  const taken: string[] = [];
  for (const form of forms) {
    const refusal = await attempt(form(port), rules());
    if (!refusal?.startsWith("TargetError")) taken.push(`${form(port)}: ${String(refusal)}`);
  }
  expect(taken).toEqual([]);
  expect(hits).toEqual([]);
});

it("the canaries are reached when that is allowed: the test before could fail", async () => {
  const rules = { ...anything(), networks: loopback };
  for (const host of ["127.0.0.1", "[::1]", "localhost", "in.example.com", "in6.example.com"]) {
    expect(await attempt(`http://${host}:${port}`, rules), host).toBeUndefined();
  }
  expect(hits).toEqual([
    `127.0.0.1 127.0.0.1:${port}`,
    `::1 [::1]:${port}`,
    `127.0.0.1 localhost:${port}`,
    `127.0.0.1 in.example.com:${port}`,
    `::1 in6.example.com:${port}`,
  ]);
});

it("a name that leads elsewhere when it is looked up again is not looked up again", async () => {
  const answers = [["127.0.0.2"], ["127.0.0.1"]];
  let lookups = 0;
  const rules = {
    ...named(),
    networks: parseNetworks(["127.0.0.2/32"]),
    resolve: () => Promise.resolve(answers[lookups++] ?? []),
  };
  expect(await attempt(`http://rebind.example.com:${port}`, rules)).toBeUndefined();
  expect(hits).toEqual([`127.0.0.2 rebind.example.com:${port}`]);
  expect(lookups).toBe(1);
  expect(await attempt(`http://rebind.example.com:${port}`, rules)).toMatch(
    /has an address that is not public/,
  );
});

it("a name that cannot be resolved is reported, and nothing is called", async () => {
  const rules = { ...anything(), resolve: () => Promise.reject(new Error("ENOTFOUND")) };
  expect(await attempt(`http://nowhere.example.com:${port}`, rules)).toBe(
    "TargetError: The host nowhere.example.com of webhook.url cannot be resolved. Check its name and its DNS record.",
  );
  expect(hits).toEqual([]);
});

it("only ports that are allowed are called", async () => {
  const rules = { ...named(), allowed: parseAllowed(["http://*"]), networks: loopback };
  expect(await attempt(`http://in.example.com:${port}`, rules)).toMatch(/DROVER_WEBHOOK_ALLOW/);
  expect(hits).toEqual([]);
});

it.each([
  "",
  "example.com",
  "ftp://a",
  "https://",
  "https://a/b",
  "https://a*",
  "https://*a.com",
  "https://a.com:x",
  "https://2130706433",
  "https://A.com",
  "https://a@b",
  "https://xn--a",
])("refuses to allow %j, with how to write it", (word) =>
  expect(() => parseAllowed([word])).toThrow(/is not an origin; write https/),
);
it.each(["127.0.0.1", "127.0.0.0/33", "a/8", "::/129", "10.0.0.0/-1", "10/8", "1.2.3.4/8/8"])(
  "refuses the network %j",
  (word) => expect(() => parseNetworks([word])).toThrow(/is not a network; write/),
);

const ports = [{ port: 80 }, { port: 53, protocol: "UDP" }];
const serviceOf = (spec: object): Pick<TargetRules, "client"> => ({
  client: {
    get: (_ref, key) =>
      Promise.resolve<KubeObject | undefined>(
        key === objectKey({ namespace: "web", name: "greetings" })
          ? {
              apiVersion: "v1",
              kind: "Service",
              metadata: { name: "greetings", namespace: "web", uid: "u", resourceVersion: "1" },
              spec: { selector: { app: "greetings" }, ports, ...spec },
            }
          : undefined,
      ),
  },
});
it.each<[string, object, Partial<WebhookFunction>, RegExp]>([
  ["that is not there", {}, { service: { name: "other", port: 80 } }, /no Service web\/other/],
  ["of another namespace", {}, { namespace: "elsewhere" }, /no Service elsewhere\/greetings/],
  ["that is an ExternalName", { type: "ExternalName", externalName: "localhost" }, {}, /ExternalName/],
  ["without a selector", { clusterIP: "10.0.0.1", selector: undefined }, {}, /no selector.*Give it one/],
  ["whose selector is empty", { clusterIP: "10.0.0.1", selector: {} }, {}, /no selector/],
  ["that is headless", { clusterIP: "None" }, {}, /no cluster IP/],
  ["without an address", {}, {}, /no cluster IP/],
  ["with a name for its address", { clusterIP: "localhost" }, {}, /no cluster IP/],
  ["on loopback", { clusterIP: "127.0.0.1" }, {}, /which a Service cannot have/],
  ["at the metadata server", { clusterIP: "169.254.169.254" }, {}, /which a Service cannot have/],
  ["on loopback, by IPv6", { clusterIP: "::ffff:127.0.0.1" }, {}, /which a Service cannot have/],
  [
    "without that port",
    { clusterIP: "10.0.0.1" },
    { service: { name: "greetings", port: 81 } },
    /no TCP port 81/,
  ],
  [
    "with that port for UDP",
    { clusterIP: "10.0.0.1" },
    { service: { name: "greetings", port: 53 } },
    /no TCP port 53/,
  ],
])("a Service %s is not called", async (_what, spec, more, problem) => {
  const rules = { ...named(), ...serviceOf(spec) };
  await expect(targetOf({ ...greetings, ...more }, rules, new AbortController().signal)).rejects.toThrow(
    problem,
  );
});

it("a Service is called by its cluster IP and port, at the path that is declared", async () => {
  const { signal } = new AbortController();
  const at = (spec: object, path = "/hook") =>
    targetOf({ ...greetings, path }, { ...named(), ...serviceOf(spec) }, signal);
  expect((await at({ clusterIP: "10.0.0.1" })).url.href).toBe("http://10.0.0.1/hook");
  const unselected = { ...named(), ...serviceOf({ clusterIP: "10.0.0.1", selector: {} }), unselected: true };
  expect((await targetOf(greetings, unselected, signal)).address).toBe("10.0.0.1");
  const inside = { ...named(), ...serviceOf({ clusterIP: "127.0.0.1" }), networks: loopback };
  expect((await targetOf(greetings, inside, signal)).address).toBe("127.0.0.1");
  expect((await at({ clusterIP: "fd00::1" })).url.href).toBe("http://[fd00::1]/hook");
  for (const path of ["//evil.example.com/x", "/\\evil.example.com", "/@evil"]) {
    const target = await at({ clusterIP: "10.0.0.1" }, path);
    expect([target.url.host, target.address], path).toEqual(["10.0.0.1", "10.0.0.1"]);
  }
});
