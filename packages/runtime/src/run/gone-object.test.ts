import { builtin } from "@drover/kube";
import { objectKey } from "@drover/controller";
import { expect, it } from "vitest";
import { reconcileWidget, runOf, type WidgetDefinition, widgetsOfFile } from "./widgets.fixture.ts";

const { client, create } = await widgetsOfFile();
const keys: string[] = [];
const notes: WidgetDefinition = {
  reconcile: () => Promise.reject(new Error("There is no object.")),
  whenGone: ({ key }) => (keys.push(key), Promise.resolve()),
};
const gone = (
  definition: WidgetDefinition,
  ...rest: [Parameters<typeof runOf>[1]?, Parameters<typeof reconcileWidget>[3]?]
) => reconcileWidget(client, definition, runOf("gone", rest[0]), rest[1]);

it("a run for a key without an object calls `whenGone`, and ends", async () => {
  expect(await gone(notes)).toEqual({ kind: "gone" });
  expect(keys.splice(0)).toEqual([runOf("gone").key]);
  expect(await gone({ reconcile: () => Promise.resolve(undefined) })).toEqual({ kind: "gone" });
});

it("is not called for an object that is there", async () => {
  await create("there", {});
  await reconcileWidget(client, { ...notes, reconcile: () => Promise.resolve(undefined) }, runOf("there"));
  expect(keys).toEqual([]);
});

it("is not called in a session of `drover dev`, which does not know whose the object was", async () => {
  const session = { name: "ada", secret: "s" };
  expect(await gone(notes, {}, { session })).toEqual({ kind: "gone" });
  expect(keys).toEqual([]);
});

it("is called again, with backoff, if it fails", async () => {
  const fails = () => Promise.reject(new Error("no way"));
  expect(await gone({ ...notes, whenGone: fails })).toMatchObject({ kind: "retry", error: "no way" });
});

it("writes nothing once the run has lost its lease", async () => {
  const left = objectKey({ namespace: "default", name: "left" });
  const whenGone: WidgetDefinition["whenGone"] = async ({ client: guarded }) => {
    await guarded.create(builtin.configMap, { metadata: { namespace: "default", name: "left" } });
  };
  await gone({ ...notes, whenGone }, { hasLease: () => false });
  expect(await client.get(builtin.configMap, left)).toBeUndefined();
  await gone({ ...notes, whenGone });
  expect(await client.get(builtin.configMap, left)).toBeDefined();
});
