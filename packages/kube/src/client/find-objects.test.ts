import { expect, it } from "vitest";
import type { FindOptions, KubeClient } from "./client.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { openRunCache, type RunCache } from "../cache/run-cache.ts";
import { resourceNameOf } from "../objects/resource-ref.ts";
import { bucketRef, bucketList, bucketObject } from "../testing/objects.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { jsonReply } from "../testing/scripted-server.ts";

/** A run with a server that returns these objects, page by page, for each list. */
async function running(...pages: readonly (readonly object[])[]) {
  const { server, client } = await scriptedClient((request, response) => {
    const at = Number(request.query.get("continue") ?? 0);
    const more = at + 1 < pages.length ? String(at + 1) : undefined;
    jsonReply(bucketList(pages[at] ?? [], { resourceVersion: "9", continue: more }))(request, response);
  });
  const known = openRunCache([bucketRef], { versions: { [resourceNameOf(bucketRef)]: "1" } });
  return { server, known, client: withCache(client, known) };
}
const beforeWrite = () => undefined;
/** A client with the cache, between two guards without one. */
const withCache = (client: KubeClient, cache: RunCache): KubeClient =>
  client.guarded({ beforeWrite }).guarded({ beforeWrite, cache }).guarded({ beforeWrite });
const named = async (client: KubeClient, options: FindOptions) =>
  (await client.find(bucketRef, options)).map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);

const [mine, other, theirs] = [
  bucketObject("mine", { labels: { app: "a" } }),
  bucketObject("other", { labels: { app: "b" } }),
  bucketObject("theirs", { namespace: "other", labels: { app: "a" } }),
];

it("a repeated query is answered from the cache, with every page", async () => {
  const { client, server } = await running([mine], [other, theirs]);
  const all = ["default/mine", "default/other", "other/theirs"];
  expect(await named(client, {})).toEqual(all);
  expect(server.requests).toHaveLength(2);
  expect(await named(client, {})).toEqual(all);
  expect(server.requests).toHaveLength(2);
});

it("a page that the caller refuses ends the list, and nothing is cached", async () => {
  const { client, server } = await running([mine], [other], [theirs]);
  const limits = {
    limit: 1,
    onPage: ([object]: readonly KubeObject[]) => object?.metadata.name !== "other" || stop(),
  };
  await expect(client.find(bucketRef, limits)).rejects.toThrow("enough");
  expect(server.requests.map(({ query }) => [query.get("limit"), query.get("continue")])).toEqual([
    ["1", null],
    ["1", "1"],
  ]);
  await client.find(bucketRef, {});
  expect(server.requests).toHaveLength(5);
});
const stop = (): never => {
  throw new Error("enough");
};

it.each<[string, FindOptions, readonly string[]]>([
  ["namespace", { namespace: "default" }, ["default/mine"]],
  ["label selector", { selector: { matchLabels: { app: "b" } } }, ["default/other"]],
  [
    "field selector",
    { fields: { selector: "metadata.name=theirs", holds: ({ metadata }) => metadata.name === "theirs" } },
    ["other/theirs"],
  ],
])("a query of the cache returns only matching objects, by %s", async (_what, options, found) => {
  const { client, known, server } = await running([mine]);
  await client.find(bucketRef, options);
  // Results of other queries are cached, too.
  const items = [mine, other, theirs].filter(
    ({ metadata }) => options.namespace === undefined || metadata.name !== "other",
  );
  known.add(bucketRef, "others", { resourceVersion: "9", items });
  expect(await named(client, options)).toEqual(found);
  expect(server.requests).toHaveLength(1);
});

it("a query for metadata is answered live each time", async () => {
  const { client } = await running([mine]);
  const names = async () =>
    (await client.find(bucketRef, { metadataOnly: true })).map(({ metadata }) => metadata.name);
  expect([await names(), await names()]).toEqual([["mine"], ["mine"]]);
});

it("a query for metadata stores no objects for the next run", async () => {
  const { client, known } = await running([mine]);
  await client.find(bucketRef, { metadataOnly: true });
  expect(known.text() ?? "").not.toContain("mine");
});
