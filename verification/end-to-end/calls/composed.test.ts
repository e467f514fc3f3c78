import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { Website } from "../../../examples/typescript/website.ts";
import { core, inDefault, object } from "../../harness/manifests.ts";
import { deployedWorldOfFile } from "../stage/deployed-world.ts";
import { pythonFunction } from "../stage/python-function.ts";
import { eventually } from "../stage/world.ts";

const world = await deployedWorldOfFile([Website], { python: pythonFunction("website/function.py") });
await world.startGateway({ awaited: "Serving /healthz", machine: "node" });
const { cluster } = world;

const manifest = new URL("../../../examples/website/deploy/function.yaml", import.meta.url);
const { apiVersion, kind, metadata, spec } = z
  .looseObject({
    apiVersion: z.string(),
    kind: z.string(),
    metadata: z.object({ name: z.string() }),
    spec: z.looseObject({}),
  })
  .parse(parse(readFileSync(manifest, "utf8")));
const publisher = inDefault({
  apiVersion,
  kind,
  metadata,
  spec: { ...spec, container: { image: "python" } },
});
const pageSchema = z.looseObject({
  metadata: z.looseObject({ uid: z.string() }),
  data: z.record(z.string(), z.string()),
});
const website = (html: string) => object(Website, "ada", { html, image: "web:1" });

it("the children that a function in Python declares are made, changed and put back", async () => {
  await world.applyReady(publisher);
  await cluster.apply(website("Hi"));
  const read = (path: string) => cluster.read(path.replace("*", "namespaces/default") + "/ada");
  const { status } =
    (await world.until(website("Hi"), (one) => one?.status?.["address"] !== undefined)) ?? {};
  expect(status).toMatchObject({ address: "http://ada.default.svc", readyReplicas: 0 });
  expect(await read("/apis/apps/v1/*/deployments")).toMatchObject({ spec: { replicas: 1 } });
  expect(await read("/api/v1/*/services")).toMatchObject({
    metadata: { ownerReferences: [{ kind: "Website", name: "ada", controller: true }] },
  });
  const pageIs = (html: string, isAnother: (uid: string) => boolean = () => true) =>
    eventually(async () => {
      const page = pageSchema.parse(await read("/api/v1/*/configmaps"));
      expect([page.data["index.html"], isAnother(page.metadata.uid)]).toEqual([html, true]);
      return page.metadata.uid;
    });
  await pageIs("Hi");
  await cluster.apply(website("Bye"));
  const before = await pageIs("Bye");
  await cluster.remove(core("ConfigMap", "ada"));
  await pageIs("Bye", (uid) => uid !== before);
}, 240_000);
