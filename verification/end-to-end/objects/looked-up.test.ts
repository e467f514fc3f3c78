import { ReconcileFunction } from "@drover/controller";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { core, coreKind, looseKind, type Manifest, namespaceNamed, object } from "../../harness/manifests.ts";
import { eventually, ofCluster, queueOf, worldOfFile } from "../stage/world.ts";

const world = await worldOfFile(ReconcileFunction);
const redis = await world.connectRedis();
await world.cluster.apply(namespaceNamed("elsewhere"));
await world.cluster.apply(looseKind("example.com", "Gadget", "v1"));
let bridge = await world.startBridge({ functions: ofCluster, awaited: "Serving" });

const gadget = (name: string, of: object): Manifest =>
  object({ apiVersion: "example.com/v1", kind: "Gadget" }, name, of);
const labelled = (
  kind: string,
  name: string,
  labels: object = {},
  data: object = {},
  namespace = "default",
) => ({
  ...core(kind, name, { data }),
  metadata: { name, namespace, labels },
});
const registration = (...watches: readonly object[]): Manifest =>
  object(ReconcileFunction, "gadgets", { for: coreKind("Gadget", { group: "example.com" }), watches });
const bySecret = coreKind("Secret", { names: { referencedBy: "spec.secrets[].name" } });
const bySelector = coreKind("ConfigMap", { names: { selectedBy: "spec.selector" } });
const byAll = coreKind("ConfigMap", {
  names: { all: true },
  labelSelector: { matchLabels: { global: "yes" } },
});

/** How often each gadget was woken, at one instant, as the ledger counts it; no worker claims the keys. */
const wakes = async (): Promise<readonly number[]> => {
  const queue = await queueOf(world, registration());
  const keys = ["a", "b", "c"].map((name) => `{drover:${queue}}:key:default/${name}`);
  const reading = keys.reduce((all, key) => all.hget(key, "wakes"), redis.multi());
  return ((await reading.exec()) ?? []).map(([, count]) => Number(count));
};
/** Which gadgets a change wakes: all that it wakes, it wakes at once, but for what is looked for `all` over. */
async function wokenBy(change: () => Promise<unknown>, all?: string): Promise<string> {
  const before = await wakes();
  await change();
  let woken = "";
  await eventually(async () => {
    const now = await wakes();
    woken = ["a", "b", "c"].filter((_name, index) => (now[index] ?? 0) > (before[index] ?? 0)).join("");
    if (all === undefined) expect(woken).not.toBe("");
    else expect(woken).toBe(all);
  });
  return woken;
}

it("an object wakes those that name it, and those that select it, or did", async () => {
  const { cluster } = world;
  const apply = (manifest: Manifest) => () => cluster.apply(manifest);
  await cluster.apply(labelled("Secret", "s1"));
  await cluster.apply(labelled("ConfigMap", "m1", { app: "x" }));
  await cluster.apply(gadget("a", { secrets: [{ name: "s1" }], selector: { matchLabels: { app: "x" } } }));
  await cluster.apply(gadget("b", { secrets: [{ name: "s1" }, { name: "s2" }], selector: { app: "y" } }));
  await cluster.apply(registration(bySecret, bySelector));
  await eventually(async () => expect(Math.min(...(await wakes()).slice(0, 2))).toBeGreaterThan(0));
  const follows = async (kind: string) =>
    expect(JSON.stringify(await cluster.get(registration()))).toMatch(
      new RegExp(`"${kind}":{[^}]*"Following"`),
    );
  await eventually(() => follows("secrets"));
  await eventually(() => follows("configmaps"));

  expect(await wokenBy(apply(labelled("Secret", "s1", {}, { a: "YQ==" })))).toBe("ab");
  expect(await wokenBy(apply(labelled("Secret", "s2")))).toBe("b");
  expect(await wokenBy(apply(labelled("ConfigMap", "m1", { app: "x" }, { a: "b" })))).toBe("a");
  // Relabelled from one to the other: both.
  expect(await wokenBy(apply(labelled("ConfigMap", "m1", { app: "y" })))).toBe("ab");
  expect(await wokenBy(apply(labelled("ConfigMap", "m1", { app: "y" }, { a: "c" })))).toBe("b");

  // A gadget that changes its reference is found by the new name, and no longer by the old one.
  expect(await wokenBy(apply(gadget("b", { secrets: [{ name: "s2" }], selector: { app: "x" } })))).toBe("b");
  expect(await wokenBy(apply(labelled("Secret", "s1", {}, { a: "Yg==" })))).toBe("a");

  // A name in another namespace matches no gadget.
  await cluster.apply(labelled("Secret", "s1", {}, {}, "elsewhere"));
  expect(await wokenBy(apply(labelled("Secret", "s2", { a: "b" })))).toBe("b");

  // What happened while no bridge was there is looked up by the next one.
  await bridge.stop();
  await cluster.remove(labelled("Secret", "s1"));
  expect(
    await wokenBy(async () => {
      bridge = await world.startBridge({ functions: ofCluster, awaited: "Serving" });
    }),
  ).toBe("a");
}, 120_000);

it("a way to look up that is declared later finds what there is", async () => {
  const { cluster } = world;
  await cluster.apply(labelled("ConfigMap", "rules", { global: "yes" }));
  expect(await wokenBy(() => cluster.apply(gadget("c", {})))).toBe("c");
  expect(await wokenBy(() => cluster.apply(registration(bySecret, byAll)), "abc")).toBe("abc");
  // They were woken because their lookup has changed; objects that were deleted before they were seen wake no key.
  const stream = '{drover-stream:["","v1","configmaps","ConfigMap","Namespaced"]}:stream';
  await eventually(async () => expect(await redis.hget(stream, "told")).toContain("global=yes"));
  expect(await wokenBy(() => cluster.remove(labelled("ConfigMap", "rules", { global: "yes" })))).toBe("abc");
  // Of the ways: what was looked into by one that is gone, is gone.
  const files = await redis.keys("{drover-stream:*gadgets*}:file:*");
  expect(files).toHaveLength(2);
}, 120_000);

it("a new gadget is found by changes of the objects that it names, even before its own first wake", async () => {
  const { hostname, port } = new URL(world.redis.url);
  const monitor = connect(Number(port), hostname, () => monitor.write("MONITOR\r\n"));
  let commands = "";
  monitor.setEncoding("utf8").on("data", (text: string) => (commands += text));
  await eventually(() => expect(commands).toContain("+OK"));
  await world.cluster.apply(gadget("new", { secrets: [{ name: "s1" }] }));
  const woken = /"ZADD" "\S+:ready" "\d+" "default\/new"/;
  await eventually(() => expect(commands).toMatch(woken));
  monitor.destroy();
  for (const term of ["default/s1", "default"]) {
    const filed = commands.search(new RegExp(String.raw`"ZADD" "\S+:file:\S+" "0" "${term}\\x00default/new`));
    expect(filed).toBeGreaterThan(0);
    expect(filed).toBeLessThan(commands.search(woken));
  }
}, 120_000);

it("data of a kind that no function follows any more is removed, though no bridge ran when that happened", async () => {
  expect(await redis.keys("{drover-stream:*")).not.toEqual([]);
  await bridge.stop();
  await world.cluster.remove(registration());
  bridge = await world.startBridge({ functions: ofCluster, awaited: "Serving" });
  await eventually(async () => expect(await redis.keys("{drover-stream:*")).toEqual([]));
}, 120_000);
