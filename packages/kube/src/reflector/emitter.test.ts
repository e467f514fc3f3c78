import { silentLog } from "@drover/controller";
import { expect, it } from "vitest";
import { keyOf, type KubeObject } from "../objects/kube-object.ts";
import type { MappingResults } from "./mapping-result.ts";
import { isObjectEvent, type ReflectorEvent } from "./change-events.ts";
import { memorySeenIndex, type SeenIndex } from "./seen-index.ts";
import { emitter } from "./emitter.ts";

/** Each version of an object looks the same to the subscription. */
const map = (object: KubeObject): MappingResults => ({ s: { keys: [keyOf(object)], view: "same" } });
const object = (name: string, resourceVersion: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "n", uid: `u-${name}`, resourceVersion },
});
const first = { first: true, before: undefined, after: undefined };
const listed = (...objects: readonly KubeObject[]) => ({ type: "listed", objects, believed: false }) as const;

/** Emits a list, and returns its events: type, key, previous state, and true if the view has changed. */
async function emitList(seen: SeenIndex, objects: readonly KubeObject[]) {
  const events: ReflectorEvent[] = [];
  const one = emitter({
    seen,
    map,
    log: silentLog,
    onEvents: (some) => void events.push(...some),
  });
  one.beginListing();
  const failed = await one
    .emit([listed(...objects), { type: "complete", resourceVersion: "9", exact: false }], first)
    .then(() => false)
    .catch(() => true);
  const emitted = events.filter(isObjectEvent).map(({ type, key, previous, matched }) => {
    return [type, key, previous, previous?.matched["s"]?.view !== matched["s"]?.view] as const;
  });
  return { failed, emitted };
}

/** An index that fails at the second write, as if its process was killed. */
function dyingIndex(seen: SeenIndex): SeenIndex {
  let writes = 0;
  return {
    ...seen,
    write: (change) => (++writes === 2 ? Promise.reject(new Error("killed")) : seen.write(change)),
  };
}

it("objects that were emitted when the emitter died are emitted again, or deleted if they are gone", async () => {
  const seen = memorySeenIndex();
  const before = await emitList(dyingIndex(seen), [object("stays", "3"), object("goes", "4")]);
  expect(before.failed).toBe(true);
  expect(before.emitted.map(([type, key]) => [type, key])).toEqual([
    ["listed", "n/stays"],
    ["listed", "n/goes"],
  ]);
  const after = await emitList(seen, [object("stays", "3")]);
  expect(after).toMatchObject({
    failed: false,
    emitted: [
      ["listed", "n/stays", expect.anything(), true],
      ["deleted", "n/goes", { matched: { s: { keys: ["n/goes"] } } }, true],
    ],
  });
  expect((await emitList(seen, [object("stays", "3")])).emitted).toEqual([]);
});

it("an object that a watch added when the emitter died is emitted as deleted if it is gone", async () => {
  const seen = memorySeenIndex();
  const dying = emitter({
    seen: dyingIndex(seen),
    map,
    log: silentLog,
    onEvents: () => undefined,
  });
  const shown = dying.emit([{ type: "changed", object: object("goes", "4") }], {
    first: false,
    before: "3",
    after: "4",
  });
  await expect(shown).rejects.toThrow("killed");
  expect((await emitList(seen, [])).emitted).toEqual([
    ["deleted", "n/goes", expect.objectContaining({ uid: "u-goes" }), true],
  ]);
});
