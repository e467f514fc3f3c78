import { objectKey, silentLog, type ObjectKey, type WatchedInCode } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { Run, Wake } from "@drover/queue";
import { expect, it } from "vitest";
import { mapOnce, type MapOnceOptions } from "./map-once.ts";

const secret = objectKey({ namespace: "a", name: "token" });
const cup = objectKey({ namespace: "a", name: "cup" });
const bowl = objectKey({ namespace: "a", name: "bowl" });

/** Maps a watched Secret once; `order` has the calls, in order. */
async function mapped(parts: {
  readonly get?: () => Promise<unknown>;
  readonly names?: () => readonly ObjectKey[] | Promise<readonly ObjectKey[]>;
  readonly wake?: () => Promise<void>;
  /** The keys of the last mapping. */
  readonly before?: readonly ObjectKey[];
  readonly signal?: AbortSignal;
  readonly claim?: Partial<Run["claim"]>;
  readonly onWakes?: (wakes: readonly Wake[]) => void;
}): Promise<{ readonly outcome: string; readonly order: readonly string[] }> {
  const order: string[] = [];
  const object = { metadata: { name: "token", namespace: "a", resourceVersion: "7" } };
  const { kind } = await mapOnce(
    {
      watched: {
        kind: { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true },
        names: parts.names ?? (() => [cup]),
      } as unknown as WatchedInCode,
      client: { get: parts.get ?? (() => Promise.resolve(object)) } as unknown as KubeClient,
      queue: {
        wake: async (wakes) => {
          parts.onWakes?.(wakes);
          order.push(`wake ${wakes.map(({ key }) => key).join(", ")}`);
          await parts.wake?.();
        },
      },
      named: {
        get: () => Promise.resolve(parts.before ?? []),
        store: (_, keys) => Promise.resolve(void order.push(`store ${keys.join(", ")}`)),
      },
      log: silentLog,
    } satisfies MapOnceOptions,
    {
      key: secret,
      signal: parts.signal ?? new AbortController().signal,
      claim: { reasons: ["Modified"], versions: {}, class: "listing", ...parts.claim },
    } as unknown as Run,
  );
  return { outcome: kind, order };
}

it("wakes the keys of an object, and then stores them", async () => {
  expect(await mapped({})).toEqual({ outcome: "done", order: [`wake ${cup}`, `store ${cup}`] });
});

it("also wakes the keys that an object no longer maps to, and removes them", async () => {
  const before = [bowl, cup];
  expect((await mapped({ before })).order).toEqual([`wake ${bowl}, ${cup}`, `store ${cup}`]);
  const gone = await mapped({ before, get: () => Promise.resolve(undefined) });
  expect(gone).toEqual({ outcome: "gone", order: [`wake ${bowl}, ${cup}`, "store "] });
});

it.each<[string, Parameters<typeof mapped>[0]]>([
  ["the object cannot be read", { get: () => Promise.reject(new Error("no answer")) }],
  ["the controller's code throws", { names: () => Promise.reject(new Error("a bug")) }],
  ["Redis does not take the wakes", { wake: () => Promise.reject(new Error("READONLY")) }],
])("is retried, and stores no keys, if %s", async (_, parts) => {
  const { outcome, order } = await mapped(parts);
  expect(outcome).toBe("retry");
  expect(order.filter((one) => one.startsWith("store"))).toEqual([]);
});

it("wakes no keys once the run is aborted", async () => {
  const stopping = new AbortController();
  const names = (): readonly ObjectKey[] => {
    stopping.abort(new Error("the lease is lost"));
    return [cup];
  };
  expect((await mapped({ names, signal: stopping.signal })).order).toEqual([]);
});

it("passes on the class, reason, version and trace of its own wake", async () => {
  const woken: Wake[] = [];
  const claim = { reasons: ["Deleted", "Listed"], trace: "00-a-b-01", versions: { secrets: "9" } };
  const parts = { claim, before: [cup], onWakes: (wakes: readonly Wake[]) => void woken.push(...wakes) };
  await mapped(parts);
  await mapped({ ...parts, get: () => Promise.resolve(undefined) });
  await mapped({ ...parts, claim: { reasons: [] }, get: () => Promise.resolve(undefined) });
  const wake = { key: cup, kind: "secrets", reason: "Deleted", class: "listing", trace: "00-a-b-01" };
  expect(woken).toEqual([
    { ...wake, resourceVersion: "7" },
    { ...wake, resourceVersion: "9" },
    { key: cup, kind: "secrets", class: "listing", reason: "Modified", resourceVersion: "0" },
  ]);
});
