import { silentLog } from "@drover/controller";
import { expect, it } from "vitest";
import type { KubeObject } from "../kube-object.ts";
import { isNews, type Subscription } from "../subscription.ts";
import { isObjectEvent, type ReflectorEvent } from "./object-event.ts";
import { memorySeenIndex, type SeenIndex } from "./seen-index.ts";
import { teller } from "./teller.ts";

const self: Subscription = {
  id: "s",
  map: { by: "self" },
  ownFinalizer: "drover.dev/s",
  for: { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true },
};
const object = (name: string, resourceVersion: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "n", uid: `u-${name}`, resourceVersion },
});
const first = { first: true, before: undefined, after: undefined };
const listed = (...objects: readonly KubeObject[]) => ({ tell: "listed", objects, believed: false }) as const;

/** Tells what a listing shows, and answers what became of it: of each event its type, its key, what was before, and whether that is news. */
async function tells(seen: SeenIndex, objects: readonly KubeObject[]) {
  const events: ReflectorEvent[] = [];
  const one = teller({
    seen,
    subscriptions: [self],
    log: silentLog,
    onEvents: (some) => void events.push(...some),
  });
  one.beginListing();
  const failed = await one
    .tell([listed(...objects), { tell: "complete", resourceVersion: "9", exact: false }], first)
    .then(() => false)
    .catch(() => true);
  const told = events.filter(isObjectEvent).map(({ type, key, previous, means }) => {
    return [type, key, previous, isNews(previous?.meant["s"], means["s"])] as const;
  });
  return { failed, told };
}

/** What it writes there is lost from the second time on: its process was killed. */
function dyingIndex(seen: SeenIndex): SeenIndex {
  let writes = 0;
  return {
    ...seen,
    write: (change) => (++writes === 2 ? Promise.reject(new Error("killed")) : seen.write(change)),
  };
}

it("what was told when its teller died is told again, and its end when it is gone by then", async () => {
  const seen = memorySeenIndex();
  const before = await tells(dyingIndex(seen), [object("stays", "3"), object("goes", "4")]);
  expect(before.failed).toBe(true);
  expect(before.told.map(([type, key]) => [type, key])).toEqual([
    ["listed", "n/stays"],
    ["listed", "n/goes"],
  ]);
  const after = await tells(seen, [object("stays", "3")]);
  expect(after).toMatchObject({
    failed: false,
    told: [
      ["listed", "n/stays", expect.anything(), true],
      ["deleted", "n/goes", { meant: { s: { keys: ["n/goes"] } } }, true],
    ],
  });
  expect((await tells(seen, [object("stays", "3")])).told).toEqual([]);
});

it("what a watch has shown as new when its teller died is told as gone when it is by then", async () => {
  const seen = memorySeenIndex();
  const dying = teller({
    seen: dyingIndex(seen),
    subscriptions: [self],
    log: silentLog,
    onEvents: () => undefined,
  });
  const shown = dying.tell([{ tell: "changed", object: object("goes", "4") }], {
    first: false,
    before: "3",
    after: "4",
  });
  await expect(shown).rejects.toThrow("killed");
  expect((await tells(seen, [])).told).toEqual([
    ["deleted", "n/goes", expect.objectContaining({ uid: "u-goes" }), true],
  ]);
});
