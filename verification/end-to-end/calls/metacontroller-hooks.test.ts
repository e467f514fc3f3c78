import { objectKey } from "@drover/controller";
import { builtin, type KubeObject, refOf, type ResourceRef } from "@drover/kube";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { Website } from "../../../examples/typescript/website.ts";
import { inDefault, object, secret } from "../../harness/manifests.ts";
import { deployedWorldOfFile } from "../stage/deployed-world.ts";
import { eventually } from "../stage/world.ts";

const example = (file: string): string =>
  new URL(`../../../examples/metacontroller/${file}`, import.meta.url).pathname;
const world = await deployedWorldOfFile([Website], { hooks: { command: ["python3", example("hooks.py")] } });
await world.startGateway({ awaited: "Serving /healthz", machine: "node" });
const { client, cluster } = world;

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  spec: z.looseObject({ webhook: z.looseObject({ metacontroller: z.looseObject({}) }) }),
});
/** The example's function; its hooks run in a container of its own. */
function functionOf(file: string, more: object = {}, hooks: object = {}) {
  const manifest = manifestSchema.parse(parse(readFileSync(example(file), "utf8")));
  const { webhook, ...spec } = manifest.spec;
  const container = { container: { image: "hooks" }, scaling: { min: 1, max: 1 } };
  const metacontroller = { ...webhook.metacontroller, ...hooks };
  return inDefault({ ...manifest, spec: { ...spec, webhook: { metacontroller }, ...container, ...more } });
}
const websites = (more?: object, hooks?: object) => functionOf("composite-function.yaml", more, hooks);

const keyOf = (name: string) => objectKey({ namespace: "default", name });
const read = (ref: ResourceRef, name: string) => client.get(ref, keyOf(name));
const versionOf = async (ref: ResourceRef, name: string) => (await read(ref, name))?.metadata.resourceVersion;
const website = (name: string, spec: object = {}) =>
  object(Website, name, { html: "Hi", image: "web:1", ...spec });
const htmlOf = (page: KubeObject | undefined): unknown => page && { ...page }["data"];
const setFinalizers = (name: string, finalizers: readonly string[]) =>
  client.patch(builtin.deployment, keyOf(name), { type: "merge", body: { metadata: { finalizers } } });

describe("the hooks of a CompositeController", { timeout: 240_000 }, () => {
  it("declare children and status, with the objects that the customize hook names", async () => {
    await cluster.apply(secret("words", { WORD: "hush" }));
    await world.applyReady(websites());
    await cluster.apply(website("ada", { secretName: "words" }));
    const hasVersionOfSecret = () =>
      eventually(async () => {
        const annotations = { "example.com/secret-version": await versionOf(builtin.secret, "words") };
        expect(await read(builtin.deployment, "ada")).toMatchObject({
          metadata: { ownerReferences: [{ kind: "Website", name: "ada", controller: true }] },
          spec: { template: { metadata: { annotations } } },
        });
      });
    await hasVersionOfSecret();
    expect(htmlOf(await read(builtin.configMap, "ada"))).toEqual({ "index.html": "Hi" });
    const { status } =
      (await world.until(website("ada"), (one) => one?.status?.["address"] !== undefined)) ?? {};
    expect(status).toMatchObject({ address: "http://ada", readyReplicas: 0, observedGeneration: 1 });
    // A change of the Secret calls the hooks again.
    await cluster.apply(secret("words", { WORD: "loud" }));
    await hasVersionOfSecret();
  });

  it("have their children changed and made again", async () => {
    await cluster.apply(website("ada", { html: "Bye" }));
    const isMade = () =>
      eventually(async () =>
        expect(htmlOf(await read(builtin.configMap, "ada"))).toEqual({ "index.html": "Bye" }),
      );
    await isMade();
    await client.delete(builtin.configMap, keyOf("ada"));
    await isMade();
  });

  it("finalize in their own order", async () => {
    await setFinalizers("ada", ["example.com/hold"]);
    await cluster.remove(website("ada"));
    await eventually(async () =>
      expect((await read(builtin.deployment, "ada"))?.metadata.deletionTimestamp).toBeDefined(),
    );
    await world.until(website("ada"), (one) => JSON.stringify(one?.status).includes('"Finalizing"'));
    expect(htmlOf(await read(builtin.configMap, "ada"))).toEqual({ "index.html": "Bye" });
    await setFinalizers("ada", []);
    await eventually(async () => expect(await cluster.get(website("ada"))).toBeUndefined());
    expect(await read(builtin.deployment, "ada")).toBeUndefined();
    expect(await read(builtin.configMap, "ada")).toBeUndefined();
  });

  it("take over what Metacontroller has made", async () => {
    await cluster.apply(websites({ paused: true }, { takeOver: true }));
    await world.until(websites(), (one) => one?.status?.["paused"] === true);
    await cluster.apply(website("eve"));
    const { uid } = (await read(refOf(Website), "eve"))?.metadata ?? expect.fail("There is no website.");
    const owner = { apiVersion: "example.com/v1alpha1", kind: "Website", name: "eve", uid, controller: true };
    const make = (name: string, ownerReferences: NonNullable<KubeObject["metadata"]["ownerReferences"]>) =>
      client.create(builtin.configMap, {
        metadata: { name, namespace: "default", ownerReferences },
        data: { "index.html": "Old" },
      });
    const page = await make("eve", [owner]);
    await make("eve-old", [owner]);
    const other = (await read(builtin.secret, "words"))?.metadata.uid ?? expect.fail("There is no Secret.");
    await make("of-others", [{ ...owner, apiVersion: "v1", kind: "Secret", name: "words", uid: other }]);
    await make("without-owner", []);
    await cluster.apply(websites({ paused: false }, { takeOver: true }));
    await eventually(async () => expect(await read(builtin.configMap, "eve-old")).toBeUndefined());
    const taken = await read(builtin.configMap, "eve");
    expect(htmlOf(taken)).toEqual({ "index.html": "Hi" });
    expect(taken?.metadata).toMatchObject({
      uid: page.metadata.uid,
      labels: { "drover.dev/owner-uid": uid },
    });
    expect(htmlOf(await read(builtin.configMap, "of-others"))).toEqual({ "index.html": "Old" });
    expect(htmlOf(await read(builtin.configMap, "without-owner"))).toEqual({ "index.html": "Old" });
  });

  it("take over children that they do not change either", async () => {
    await cluster.apply(websites({ paused: true }, { takeOver: true, updates: [] }));
    await world.until(websites(), (one) => one?.status?.["paused"] === true);
    await cluster.apply(website("zoe"));
    const { uid } = (await read(refOf(Website), "zoe"))?.metadata ?? expect.fail("There is no website.");
    const owner = { apiVersion: "example.com/v1alpha1", kind: "Website", name: "zoe", uid, controller: true };
    await client.create(builtin.configMap, {
      metadata: { name: "zoe", namespace: "default", ownerReferences: [owner] },
      data: { "index.html": "Old" },
    });
    await cluster.apply(websites({ paused: false }, { takeOver: true, updates: [] }));
    await eventually(async () =>
      expect((await read(builtin.configMap, "zoe"))?.metadata.labels).toMatchObject({
        "drover.dev/owner-uid": uid,
      }),
    );
    expect(htmlOf(await read(builtin.configMap, "zoe"))).toEqual({ "index.html": "Old" });
  });
});

it("the hooks of a DecoratorController attach objects to those of others, and annotate them", async () => {
  await world.applyReady(functionOf("decorator-function.yaml"));
  const matchLabels = { app: "shop" };
  const template = {
    metadata: { labels: matchLabels },
    spec: { containers: [{ name: "web", image: "web:1" }] },
  };
  const expose = (port: string) => ({ "example.com/expose": port });
  await client.create(builtin.deployment, {
    metadata: { name: "shop", namespace: "default", labels: expose("8080") },
    spec: { selector: { matchLabels }, template },
  });
  const isExposed = (port: number) =>
    eventually(async () => {
      expect(await read(builtin.service, "shop")).toMatchObject({
        metadata: { ownerReferences: [{ kind: "Deployment", name: "shop", controller: true }] },
        spec: { selector: matchLabels, ports: [{ port }] },
      });
      expect((await read(builtin.deployment, "shop"))?.metadata.annotations).toMatchObject({
        "example.com/exposed-at": `shop:${port}`,
      });
    });
  await isExposed(8080);
  await client.patch(builtin.deployment, keyOf("shop"), {
    type: "merge",
    body: { metadata: { labels: expose("9090") } },
  });
  await isExposed(9090);
  // The status is that of another controller.
  expect((await read(builtin.deployment, "shop"))?.["status"] ?? {}).not.toHaveProperty("conditions");
}, 240_000);
