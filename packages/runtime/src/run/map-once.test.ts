import { objectKey, silentLog, type ObjectKey, type WatchedInCode } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { Run, Wake } from "@drover/queue";
import { expect, it } from "vitest";
import { mapOnce, type MapOnceOptions } from "./map-once.ts";

const secret = objectKey({ namespace: "a", name: "token" });
const cup = objectKey({ namespace: "a", name: "cup" });
const bowl = objectKey({ namespace: "a", name: "bowl" });

/** One run of a watched Secret; `order` is what was done, in turn. */
async function name(parts: {
  readonly get?: () => Promise<unknown>;
  readonly names?: () => readonly ObjectKey[] | Promise<readonly ObjectKey[]>;
  readonly wake?: () => Promise<void>;
  /** Whom it concerned the last time. */
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
        store: (_, keys) => Promise.resolve(void order.push(`remember ${keys.join(", ")}`)),
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

it("wakes whom an object concerns, and remembers them after that", async () => {
  expect(await name({})).toEqual({ outcome: "done", order: [`wake ${cup}`, `remember ${cup}`] });
});

it("wakes also whom an object does not concern any more, and forgets them", async () => {
  const before = [bowl, cup];
  expect((await name({ before })).order).toEqual([`wake ${bowl}, ${cup}`, `remember ${cup}`]);
  const gone = await name({ before, get: () => Promise.resolve(undefined) });
  expect(gone).toEqual({ outcome: "gone", order: [`wake ${bowl}, ${cup}`, "remember "] });
});

it.each<[string, Parameters<typeof name>[0]]>([
  ["the object cannot be read", { get: () => Promise.reject(new Error("no answer")) }],
  ["the controller's code throws", { names: () => Promise.reject(new Error("a bug")) }],
  ["Redis does not take the wakes", { wake: () => Promise.reject(new Error("READONLY")) }],
])("tries again, and remembers nobody, where %s", async (_, parts) => {
  const { outcome, order } = await name(parts);
  expect(outcome).toBe("retry");
  expect(order.filter((one) => one.startsWith("remember"))).toEqual([]);
});

it("wakes nobody once the run is told to stop", async () => {
  const stopping = new AbortController();
  const names = (): readonly ObjectKey[] => {
    stopping.abort(new Error("the lease is lost"));
    return [cup];
  };
  expect((await name({ names, signal: stopping.signal })).order).toEqual([]);
});

it("hands on what it was woken for: how urgently, why, by which version, and in which trace", async () => {
  const woken: Wake[] = [];
  const claim = { reasons: ["Deleted", "Listed"], trace: "00-a-b-01", versions: { secrets: "9" } };
  const parts = { claim, before: [cup], onWakes: (wakes: readonly Wake[]) => void woken.push(...wakes) };
  await name(parts);
  await name({ ...parts, get: () => Promise.resolve(undefined) });
  await name({ ...parts, claim: { reasons: [] }, get: () => Promise.resolve(undefined) });
  const wake = { key: cup, kind: "secrets", reason: "Deleted", class: "listing", trace: "00-a-b-01" };
  expect(woken).toEqual([
    { ...wake, resourceVersion: "7" },
    { ...wake, resourceVersion: "9" },
    { key: cup, kind: "secrets", class: "listing", reason: "Modified", resourceVersion: "0" },
  ]);
});
