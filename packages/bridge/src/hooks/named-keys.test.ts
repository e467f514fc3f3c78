import { objectKey } from "@drover/controller";
import { expect, it } from "vitest";
import { headersOf, hookOf } from "./hook.fixture.ts";
import type { Hook } from "./hook.ts";
import { findByName, type FindKeys, namedKeys } from "./named-keys.ts";

const keysIn = (
  hook: Hook,
  names: readonly unknown[],
  headers: Record<string, string> = {},
  find: FindKeys = findByName,
) =>
  namedKeys(
    hook,
    {
      headers: headersOf(headers),
      body: Buffer.from(""),
      content: { Records: names.map((name) => ({ name })) },
      signedId: undefined,
    },
    find,
  );
const named = (more: object, where: Parameters<typeof hookOf>[1] = {}): Hook =>
  hookOf({ names: { field: "Records[].name", ...more } }, where);

it("reads namespace/name, each once, and only in the function's namespace", async () => {
  const names = ["web/a", "web/b", "web/a", "other/c", "d", "web/e/f", "web/", 7, null];
  expect(await keysIn(named({}), names)).toEqual(["web/a", "web/b"]);
});

it("reads plain names if the namespace is declared", async () => {
  expect(await keysIn(named({ namespace: "web" }), ["a", "other/b", "__proto__", "a:b", ""])).toEqual([
    "web/a",
    "web/__proto__",
    "web/a:b",
  ]);
});

it("wakes in other namespaces if that is granted, or a file declares the hook", async () => {
  expect(await keysIn(named({ acrossNamespaces: true }), ["web/a", "other/b"])).toEqual(["web/a", "other/b"]);
  expect(await keysIn(named({}, { home: null }), ["web/a", "other/b"])).toEqual(["web/a", "other/b"]);
});

it("never wakes outside of the controller's namespaces", async () => {
  const own = { namespaces: ["other"] };
  expect(await keysIn(named({ acrossNamespaces: true }, { own }), ["web/a", "other/b"])).toEqual(["other/b"]);
  expect(await keysIn(named({}, { own }), ["web/a", "other/b"])).toEqual([]);
});

it("reads plain names of cluster-scoped objects", async () => {
  const hook = named({ acrossNamespaces: true }, { own: { scope: "Cluster" } });
  expect(await keysIn(hook, ["a", "web/b"])).toEqual(["a"]);
});

it("reads names from a header of a request with a bearer token", async () => {
  const verify = { bearer: { secretRef: { name: "a", key: "b" } } };
  const hook = hookOf({ verify, names: { header: "ce-subject" } });
  expect(await keysIn(hook, [], { "Ce-Subject": "web/a" })).toEqual(["web/a"]);
  expect(await keysIn(hook, [])).toEqual([]);
});

it("restricts keys that are found by value to the same namespaces", async () => {
  const find = () =>
    Promise.resolve(["web", "other"].map((namespace) => objectKey({ namespace, name: "a" })));
  expect(await keysIn(named({}), ["x"], {}, find)).toEqual(["web/a"]);
});

it.each<[string, (count: number) => Promise<readonly string[]>]>([
  [
    "that names",
    (count) =>
      keysIn(
        named({}),
        Array.from({ length: count }, (_, i) => `web/${i}`),
      ),
  ],
  [
    "with values that are held by",
    (count) => {
      const found = Array.from({ length: count }, (_, i) => objectKey({ namespace: "web", name: `w${i}` }));
      return keysIn(named({}), ["assets"], {}, () => Promise.resolve(found));
    },
  ],
])("refuses an event %s more than a thousand objects", async (_what, keysOf) => {
  expect(await keysOf(1_000)).toHaveLength(1_000);
  await expect(keysOf(1_001)).rejects.toThrow(/may name at most 1000 objects, not 1001/);
});

it("looks up no keys for an event with more than a thousand values", async () => {
  const values = Array.from({ length: 1_001 }, (_, i) => `v${i}`);
  const lookup = keysIn(named({}), values, {}, () => expect.unreachable("There are too many values."));
  await expect(lookup).rejects.toThrow(/may name at most 1000 objects, not 1001/);
});
