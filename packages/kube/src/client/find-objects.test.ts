import { afterEach, expect, it } from "vitest";
import type { FindOptions, KubeClient } from "./client.ts";
import { connect } from "./connect.ts";
import { openRunCache, type RunCache } from "../cache/run-cache.ts";
import { resourceNameOf } from "../objects/resource-ref.ts";
import { bucketRef, bucketList, bucketObject } from "../testing/objects.ts";
import { jsonReply, type ScriptedServer, scriptedServer } from "../testing/scripted-server.ts";

let close: AsyncDisposableStack;
afterEach(() => close.disposeAsync());

/** A run whose server answers with these objects, page by page, as often as it is asked. */
async function running(...pages: readonly (readonly object[])[]) {
  close = new AsyncDisposableStack();
  const server: ScriptedServer = close.use(
    await scriptedServer((heard, response) => {
      const at = Number(heard.query.get("continue") ?? 0);
      const more = at + 1 < pages.length ? String(at + 1) : undefined;
      jsonReply(bucketList(pages[at] ?? [], { resourceVersion: "9", continue: more }))(heard, response);
    }),
  );
  const plain = await connect({ kubeconfig: server.kubeconfig });
  close.defer(() => plain.close());
  const known = openRunCache([bucketRef], { versions: { [resourceNameOf(bucketRef)]: "1" } });
  return { server, known, client: withKnowledge(plain, known) };
}
const beforeWrite = () => undefined;
/** In a run within one that knows nothing, and with one around that knows nothing. */
const withKnowledge = (client: KubeClient, cache: RunCache): KubeClient =>
  client.guarded({ beforeWrite }).guarded({ beforeWrite, cache }).guarded({ beforeWrite });
const named = async (client: KubeClient, options: FindOptions) =>
  (await client.find(bucketRef, options)).map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);

const [mine, other, theirs] = [
  bucketObject("mine", { labels: { app: "a" } }),
  bucketObject("other", { labels: { app: "b" } }),
  bucketObject("theirs", { namespace: "other", labels: { app: "a" } }),
];

it("finds what was found before without asking again, whole", async () => {
  const { client, server } = await running([mine], [other, theirs]);
  const all = ["default/mine", "default/other", "other/theirs"];
  expect(await named(client, {})).toEqual(all);
  expect(server.requests).toHaveLength(2);
  expect(await named(client, {})).toEqual(all);
  expect(server.requests).toHaveLength(2);
});

it.each<[string, FindOptions, readonly string[]]>([
  ["namespace", { namespace: "default" }, ["default/mine"]],
  ["label selector", { selector: { matchLabels: { app: "b" } } }, ["default/other"]],
  [
    "field selector",
    { fields: { selector: "metadata.name=theirs", holds: ({ metadata }) => metadata.name === "theirs" } },
    ["other/theirs"],
  ],
])("of what is known it finds only what is asked for, by %s", async (_what, options, found) => {
  const { client, known, server } = await running([mine]);
  await client.find(bucketRef, options);
  // What other questions have found is known, too.
  const items = [mine, other, theirs].filter(
    ({ metadata }) => options.namespace === undefined || metadata.name !== "other",
  );
  known.add(bucketRef, "others", { resourceVersion: "9", items });
  expect(await named(client, options)).toEqual(found);
  expect(server.requests).toHaveLength(1);
});

it("of objects of which only metadata was asked for the next run knows nothing whole", async () => {
  const { client, known } = await running([mine]);
  await client.find(bucketRef, { metadataOnly: true });
  expect(known.text()).not.toContain("mine");
});
