import { objectKey } from "@drover/controller";
import type { KeyReport, ListedState, Pause } from "@drover/queue";
import { expect, it } from "vitest";
import { listedStates, reasonOf, displayState } from "./key-state.ts";
import { keyJson, keyTable } from "./key-writer.ts";
import { filterKeys } from "./filter-keys.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const ann: Pause = { scope: "namespace", since: now - 5_000, by: "ann@host" };
const reported = (more: Partial<KeyReport> = {}, name = "a", namespace = "web"): KeyReport => ({
  key: objectKey({ namespace, name }),
  state: "ready",
  at: now - 1_000,
  reasons: ["Modified"],
  fails: 0,
  accountOpens: 0,
  pauses: [],
  ...more,
});

it.each([
  [{ state: "idle" }, "idle"],
  [{ state: "unknown" }, "idle"],
  [{ state: "leased", pauses: [ann] }, "running"],
  [{ state: "parked", pauses: [ann] }, "parked"],
  [{ state: "waits", at: now + 1, pauses: [ann] }, "waiting"],
  [{ state: "waits", at: now }, "due"],
  [{ state: "waits", at: now - 1, pauses: [ann] }, "paused"],
  [{ state: "ready" }, "due"],
  [{ state: "ready", pauses: [ann] }, "paused"],
  [{ state: "dispatched", pauses: [ann] }, "paused"],
  [{ state: "paused" }, "due"],
] as const)("a key that %j is %s", (report, expected) => {
  expect(displayState(reported(report), now)).toBe(expected);
});

it.each([
  [{ pauses: [ann, { ...ann, scope: "object" }], state: "parked" }, "paused namespace"],
  [{ state: "parked", why: "backoff" }, "attempts used up"],
  [{ state: "parked" }, "terminal error"],
  [{ state: "waits", why: "conflict" }, "conflict"],
  [{ state: "waits" }, "Modified, Added"],
  [{ state: "ready", why: "backoff" }, "Modified, Added"],
] as const)("the reason of a key that %j is %s", (report, expected) => {
  expect(reasonOf(reported({ reasons: ["Modified", "Added"], ...report }))).toBe(expected);
});

/** A queue of such keys, each in the list of its state; pages are of two. */
const queueOf = (...reports: readonly KeyReport[]) => {
  const asked: string[] = [];
  return {
    asked,
    notRunSince: () => Promise.resolve({ now, keys: [] }) as never,
    list: (state: ListedState, { after = "0" }: { readonly after?: string | undefined } = {}) => {
      asked.push(`${state} ${after}`);
      const all = reports.filter((one) => (state === "failing" ? one.fails > 0 : one.state === state));
      const from = Number(after);
      const next = from + 2 < all.length ? String(from + 2) : undefined;
      return Promise.resolve({ keys: all.slice(from, from + 2), next }) as never;
    },
  };
};
const wanted = async (
  queue: ReturnType<typeof queueOf>,
  ...of: readonly [Parameters<typeof filterKeys>[1]]
) => {
  const found: string[] = [];
  for await (const { keys } of filterKeys(queue, ...of)) found.push(...keys.map(({ key }) => key));
  return found.sort();
};
const some = [
  reported({ state: "leased" }, "runs"),
  reported({ state: "dispatched" }, "dispatched"),
  reported({}, "ready"),
  reported({ pauses: [ann] }, "held"),
  reported({ state: "paused", pauses: [ann] }, "paused"),
  reported({ state: "waits", at: now - 9, error: "No Route" }, "overdue"),
  reported({ state: "waits", at: now - 8, pauses: [ann], fails: 2 }, "overdue-held"),
  reported({ state: "waits", at: now + 5, why: "backoff", fails: 1 }, "later"),
  reported({ state: "parked", error: "no route", fails: 3 }, "parked"),
  reported({ state: "parked" }, "parked", "webs"),
];

it.each([
  ["running", ["web/runs"]],
  ["due", ["web/dispatched", "web/overdue", "web/ready"]],
  ["paused", ["web/held", "web/overdue-held", "web/paused"]],
  ["waiting", ["web/later"]],
  ["parked", ["web/parked", "webs/parked"]],
  ["failing", ["web/later", "web/overdue-held", "web/parked"]],
] as const)("the keys that are %s are all found, and no others", async (state, expected) => {
  expect(await wanted(queueOf(...some), { state })).toEqual(expected);
});

it("keys of one namespace, or of one reason in whatever case, are found in all states, each once", async () => {
  expect(await wanted(queueOf(...some), { state: undefined })).toHaveLength(some.length);
  expect(await wanted(queueOf(...some), { state: undefined, namespace: "webs" })).toEqual(["webs/parked"]);
  expect(await wanted(queueOf(...some), { state: undefined, namespace: "web" })).toHaveLength(
    some.length - 1,
  );
  expect(await wanted(queueOf(...some), { state: undefined, namespace: "web", reason: "NO ROUTE" })).toEqual([
    ...["web/overdue", "web/parked"],
  ]);
});

it("a query for due keys reads no further than the first key that waits for a later time", async () => {
  const waiting = Array.from({ length: 9 }, (_, i) => reported({ state: "waits", at: now - 3 + i }, `w${i}`));
  const queue = queueOf(...waiting);
  expect(await wanted(queue, { state: "due" })).toEqual(["web/w0", "web/w1", "web/w2", "web/w3"]);
  expect(queue.asked.filter((one) => one.startsWith("waits"))).toEqual(["waits 0", "waits 2", "waits 4"]);
  expect(await wanted(queueOf(...waiting), { state: "waiting" })).toHaveLength(5);
});

it("no list is read twice for all states", () => {
  for (const state of [undefined, "due", "paused"] as const)
    expect(new Set(listedStates(state)).size).toBe(listedStates(state).length);
});

it("pages of JSON are one array, also an empty one", () => {
  const lines = (...pages: readonly (readonly KeyReport[])[]): unknown => {
    const writer = keyJson((text) => text);
    const written = pages.flatMap((keys) => writer.page({ fn: "web/sites", keys, now }));
    return JSON.parse([...written, ...writer.end()].join("\n"));
  };
  expect(lines([], [])).toEqual([]);
  const [first, second, third] = [reported({ pauses: [ann] }), reported({}, "b"), reported({}, "c")];
  expect(lines([first], [], [second, third])).toMatchObject([
    {
      function: "web/sites",
      key: "web/a",
      state: "paused",
      at: "2025-12-31T23:59:59.000Z",
      failures: 0,
      pauses: [{ scope: "namespace", by: "ann@host", since: "2025-12-31T23:59:55.000Z" }],
    },
    { key: "web/b" },
    { key: "web/c" },
  ]);
});

it("a table shows since when or in how long a key is due, and a running key as now", () => {
  const cells = (more: Partial<KeyReport>) =>
    keyTable()
      .page({ fn: "web/sites", keys: [reported(more)], now })[1]
      ?.split(/ {2,}/);
  expect(cells({})).toEqual(["web/sites", "web/a", "due", "1s ago", "0", "Modified"]);
  expect(cells({ state: "waits", at: now + 90_000, why: "backoff", fails: 2, error: "no" })).toEqual([
    ...["web/sites", "web/a", "waiting", "in 90s", "2", "backoff", "no"],
  ]);
  expect(cells({ state: "leased", at: now + 9_000 })?.[3]).toBe("now");
});
