import { objectKey } from "@drover/controller";
import { type KubeClient, kindOf, type KubeObject, refOf, type WriteOutcome } from "@drover/kube";
import type { Claim } from "@drover/queue";
import { expect, it } from "vitest";
import { objectReader } from "./object-reader.ts";
import { runOf, widgets as ref } from "./widgets.fixture.ts";

const kind = "widgets.tests.drover.dev";
const at = (resourceVersion: string, metadata: object = {}): KubeObject => ({
  apiVersion: "tests.drover.dev/v1",
  kind: "Widget",
  metadata: { name: "w", namespace: "default", uid: "u", resourceVersion, ...metadata },
});
const copy = (object: KubeObject): string => JSON.stringify(object);

/** A run of a widget that has version 9 on the API server. */
function running(claim: Partial<Claim> = {}, { copies = true, live = at("9") } = {}) {
  const run = runOf("w");
  const own = objectReader({ ref, copies }, { ...run, claim: { ...run.claim, ...claim } });
  let reads = 0;
  const client = { get: () => (reads++, Promise.resolve(live)) } as unknown as KubeClient;
  return {
    own,
    read: async () => ({ version: (await own.read(client))?.metadata.resourceVersion, isLive: reads > 0 }),
    write: (outcome: WriteOutcome) => own.observeWrite(ref, run.key)(outcome),
    observed: (leaves = false) => own.observed(leaves),
  };
}

const woken = { cachedObject: copy(at("7")), uid: "u", versions: { [kind]: "7" } };
it.each<[string, Partial<Claim>, boolean]>([
  ["of the version that woke the run", woken, false],
  ["of another version than woke the run", { ...woken, versions: { [kind]: "8" } }, true],
  ["of a run without a version", { ...woken, versions: {} }, true],
  ["of another object of the name", { ...woken, uid: "v" }, true],
  ["of an object of another name", { ...woken, cachedObject: copy(at("7", { name: "x" })) }, true],
  ["that is not an object", { ...woken, cachedObject: "{" }, true],
  ["that is missing", { ...woken, cachedObject: undefined }, true],
])("a cached object %s is used, or the object is read live", async (_what, claim, isLive) => {
  expect(await running(claim).read()).toEqual({ version: isLive ? "9" : "7", isLive });
  expect(await running(claim, { copies: false }).read()).toEqual({ version: "9", isLive: true });
});

it("a run has observed the newest version that it has read or written", async () => {
  const { read, write, observed } = running();
  expect(observed()).toBeUndefined();
  await read();
  expect(observed()).toEqual({ kind, uid: "u", resourceVersion: "9" });
  write(at("12"));
  write(at("11"));
  write("refused");
  expect(observed()).toEqual({ kind, uid: "u", resourceVersion: "12" });
});

it("a run that may have written a newer version has observed none", async () => {
  const unknown = running();
  await unknown.read();
  unknown.write("unknown");
  expect(unknown.observed()).toBeUndefined();
  const { own, read, observed } = running();
  await read();
  const { key } = runOf("w");
  const ended = [own.observeWrite(ref, key), own.observeWrite(ref, key)];
  ended[0]?.("refused");
  expect(observed()).toBeUndefined();
  ended[1]?.("refused");
  expect(observed()).toBeDefined();
});

it("writes of other objects and kinds do not change the observed version", async () => {
  const { own, read, observed } = running();
  await read();
  own.observeWrite(ref, objectKey({ namespace: "default", name: "x" }))("unknown");
  own.observeWrite(refOf({ ...kindOf(ref), plural: "gadgets" }), runOf("w").key)("unknown");
  expect(observed()).toMatchObject({ resourceVersion: "9" });
});

it("the last observed object is stored for the next run, unless it is being deleted", async () => {
  const { read, write, observed } = running();
  await read();
  expect(observed(true)?.cachedObject).toBe(copy(at("9")));
  write(at("10"));
  expect(observed(true)?.cachedObject).toBe(copy(at("10")));
  expect(observed(false)?.cachedObject).toBeUndefined();
  write(at("11", { deletionTimestamp: "2026-01-01T00:00:00Z" }));
  expect(observed(true)).toEqual({ kind, uid: "u", resourceVersion: "11" });
});
