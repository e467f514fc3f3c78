import { type ObjectMetadata, ReconcileFunction, silentLog } from "@drover/controller";
import type { KubeClient, WatchFrame, WatchOptions } from "@drover/kube";
import { expect, it } from "vitest";
import { authorAnnotations } from "./authors.ts";
import { cupKind } from "./permit.fixture.ts";
import { deniedAccesses, followPermits, permitName, requestedUse } from "./permits.ts";

const asked = (spec: object = {}, metadata: Partial<ObjectMetadata> = {}) =>
  requestedUse(
    { name: "cups", namespace: "web", uid: "u", resourceVersion: "1", ...metadata },
    ReconcileFunction.spec.parse({ for: cupKind(), delivery: "webhook", ...spec }),
  );
const hook = (name: string) => ({
  name: "h",
  verify: { bearer: { secretRef: { name, key: "k" } } },
  names: { field: "name" },
});

it.each<[string, ReturnType<typeof asked>, { readonly followed: boolean; readonly called: boolean }]>([
  ["the same", asked(), { followed: false, called: false }],
  ["another pace", asked({ timeout: "5s", paused: true }), { followed: false, called: false }],
  ["another image", asked({ container: { image: "i" } }), { followed: false, called: false }],
  [
    "another author",
    asked({}, { annotations: { [authorAnnotations.user]: "ada" } }),
    { followed: false, called: true },
  ],
  ["another address", asked({ webhook: { path: "/x" } }), { followed: false, called: true }],
  ["another kind", asked({ for: cupKind("saucers") }), { followed: true, called: true }],
  ["a kind that it owns", asked({ owns: [cupKind("saucers")] }), { followed: true, called: false }],
  [
    "a kind that it watches",
    asked({ watches: [{ ...cupKind("saucers"), names: { label: "l" } }] }),
    { followed: true, called: false },
  ],
  ["the Secret of a hook", asked({ hooks: [hook("s")] }), { followed: true, called: false }],
  ["fewer namespaces", asked({ for: { ...cupKind(), namespaces: ["a"] } }), { followed: true, called: true }],
])("a permit is invalid for a request with %s, if that changes its use", (_what, use, is) => {
  const before = asked();
  expect({ followed: use.followed !== before.followed, called: use.called !== before.called }).toEqual(is);
});

it("a hook's Secret in another namespace, or another Secret, is another request", () => {
  const uses = [
    asked({ hooks: [hook("s")] }),
    asked({ hooks: [hook("t")] }),
    asked({ hooks: [hook("s")] }, { namespace: "other" }),
  ];
  expect(new Set(uses.map(({ followed }) => followed)).size).toBe(3);
});

it("all needed accesses are reviewed, several at a time, and only as far as the caller reads", async () => {
  const needed = Array.from({ length: 20 }, (_, i) => i);
  const reviewed: number[] = [];
  const denied = deniedAccesses(needed, (one) => {
    reviewed.push(one);
    return Promise.resolve(![2, 3, 9, 19].includes(one));
  });
  expect(await denied.next()).toEqual({ value: 2, done: false });
  expect(reviewed).toHaveLength(8);
  expect(await Array.fromAsync(denied)).toEqual([3, 9, 19]);
  expect(reviewed).toEqual(needed);
});

it("permits are synced once all are listed, and changes are emitted after that", async () => {
  const given = new AbortController();
  const sent: WatchFrame[][] = [];
  let arrived = Promise.withResolvers<undefined>();
  const send = (...frames: WatchFrame[]): void => {
    sent.push(frames);
    arrived.resolve(undefined);
  };
  async function* watch(_ref: unknown, { onOpen }: WatchOptions) {
    onOpen?.();
    for (;;) {
      await arrived.promise;
      arrived = Promise.withResolvers();
      yield* sent.splice(0);
    }
  }
  given.signal.addEventListener("abort", () => send());
  const permit = (uid: string, resourceVersion: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    data: { uid, followed: "f", called: "c" },
    metadata: { name: permitName(uid), namespace: "drover", uid: `uid-${uid}`, resourceVersion },
  });
  const seen: boolean[][] = [];
  const has = (): boolean[] => ["u", "v"].map((uid) => permits.has(uid));
  const permits = followPermits({
    client: { watch } as unknown as KubeClient,
    namespace: "drover",
    log: silentLog,
    signal: given.signal,
    onChange: () => seen.push(has()),
  });
  send({ type: "ADDED", object: permit("u", "1") });
  await expect.poll(() => permits.has("u")).toBe(true);
  expect([permits.synced(), seen]).toEqual([false, []]);
  send(
    { type: "ADDED", object: permit("v", "2") },
    { type: "BOOKMARK", resourceVersion: "2", initialEventsEnd: true },
  );
  await expect.poll(() => permits.synced()).toBe(true);
  expect(seen.at(-1)).toEqual([true, true]);
  send({ type: "DELETED", object: permit("u", "3") });
  await expect.poll(() => seen.at(-1)).toEqual([false, true]);
  given.abort();
  await permits.reflector.done;
});
