import { objectKey, ReconcileFunction } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import type { KeyReport, Pause } from "@drover/queue";
import { expect, it } from "vitest";
import { explanationOf } from "./explanation.ts";
import type { KeyFacts } from "./key-facts.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const key = objectKey({ namespace: "default", name: "photos" });
const metadata = { name: "buckets", namespace: "default", uid: "u", resourceVersion: "1" };
const starting = { type: "Ready", status: "False", reason: "NoPodReady", message: "Its Pods are starting." };
const object: KubeObject = { apiVersion: "v1", kind: "Bucket", metadata };

/** The facts that do not come from the queue. */
interface Others {
  readonly status?: KeyFacts["fn"]["status"];
  readonly absent?: true;
  readonly deleted?: true;
}

const facts = (report: Partial<KeyReport>, { status = {}, absent, deleted }: Others = {}): KeyFacts => ({
  kind: "Bucket",
  key,
  now,
  runs: [],
  object: absent
    ? undefined
    : deleted
      ? { ...object, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }
      : object,
  report: { key, state: "idle", at: 0, reasons: [], fails: 0, accountOpens: 0, pauses: [], ...report },
  stats: {
    due: 7,
    oldestDue: 0,
    scheduled: 0,
    running: 2,
    parked: 0,
    failing: 0,
    runTime: 0,
    paused: 0,
    allPaused: false,
  },
  fn: {
    key: "default/buckets",
    namespace: "default",
    name: "buckets",
    identity: metadata,
    object: { ...object, status: { conditions: [starting] } },
    spec: ReconcileFunction.spec.parse({
      for: { group: "a.b", version: "v1", kind: "Bucket", plural: "buckets", scope: "Namespaced" },
      container: { image: "buckets" },
    }),
    status: { readyReplicas: 1, ...status },
  },
});

const soon = now + 12_000;
const before = now - 5_000;
const ann: Pause = { scope: "object", since: before, by: "ann@host" };

it.each<[string, Partial<KeyReport>, string, Others?]>([
  [
    "is not in the ledger",
    { state: "unknown" },
    "is not in the ledger: the bridge has not queued it yet, or the namespaces or labels of buckets exclude it",
  ],
  ["is not there", { state: "unknown" }, "does not exist, and is not in the queue", { absent: true }],
  [
    "a function not in use is for",
    { state: "unknown" },
    "buckets is not in use: Its name is taken.",
    { status: { problem: "Its name is taken." } },
  ],
  ["rests", {}, "is idle: nothing is due. It runs when it changes."],
  [
    "rests, and is paused",
    { pauses: [ann] },
    "is idle, and does not run when it changes: it is paused by ann@host for 5s (to resume it: drover resume default/buckets default/photos).",
  ],
  ["runs", { state: "leased", at: soon }, "runs now: a worker holds it, for at least another 12s."],
  [
    "is in backoff",
    { state: "waits", at: soon, why: "backoff", fails: 3, error: "ECONNREFUSED" },
    "is tried again in 12s, after 3 failures in a row; a change makes it run at once: ECONNREFUSED",
  ],
  [
    "is in backoff, and paused",
    {
      state: "waits",
      at: soon,
      why: "backoff",
      fails: 1,
      pauses: [{ ...ann, scope: "namespace" }],
    },
    "after 1 failure; a change makes it run at once. Then it does not run, because its namespace is paused by ann@host for 5s (to resume it: drover resume default/buckets --in default).",
  ],
  [
    "killed its workers",
    { state: "waits", at: soon, why: "lease ended", fails: 2 },
    "is tried again in 12s: its worker died during its last 2 runs.",
  ],
  ["is well", { state: "waits", at: soon, why: "again" }, "is reconciled, and runs again in 12s"],
  [
    "is waited for",
    { state: "waits", at: soon, why: "wait" },
    "is not done, and its last run asked to run again in 12s.",
  ],
  [
    "met a conflict",
    { state: "waits", at: soon, why: "conflict" },
    "is tried again in 12s: another client changed it",
  ],
  ["is to run", { state: "waits", at: soon, why: "batch" }, "is due in 12s: after a change, which waits for"],
  [
    "a newer version has run",
    { state: "waits", at: soon, why: "newer function" },
    "waits for a Pod of the newer version",
  ],
  [
    "is parked",
    { state: "parked", at: before, error: "region is immutable" },
    "is parked until it changes, because its last run ended with a terminal error: region is immutable",
  ],
  [
    "is given up on",
    { state: "parked", why: "backoff", fails: 5, error: "no" },
    "is parked after 5 failures in a row, until it changes: no",
  ],
  [
    "waits for a worker",
    { state: "dispatched", at: before },
    "has been due for 5s, and waits for a free worker: 7 are due and 2 run.",
  ],
  [
    "has no worker",
    { state: "ready", at: before },
    "has been due for 5s, and waits for a Pod of buckets: none is Ready (NoPodReady: Its Pods are starting.)",
    { status: { readyReplicas: 0 } },
  ],
  [
    "has no worker, and no count of workers",
    { state: "ready", at: before },
    "has been due for 5s, and waits for a Pod of buckets: none is Ready",
    { status: { readyReplicas: undefined } },
  ],
  [
    "is overdue",
    { state: "waits", at: before, why: "again" },
    "has been due for 5s, and waits for a free worker",
  ],
  [
    "is overdue, and paused",
    { state: "waits", at: before, why: "again", pauses: [ann] },
    "is due, and does not run: it is paused by ann@host for 5s (to resume it: drover resume default/buckets default/photos).",
  ],
  [
    "is paused",
    {
      state: "ready",
      at: before,
      pauses: [
        { ...ann, scope: "controller" },
        { ...ann, by: "" },
      ],
    },
    "is due, and does not run: all of default/buckets is paused by ann@host for 5s (to resume it: drover resume default/buckets --all); it is paused for 5s (to resume it: ",
  ],
  [
    "has the annotation, and is being deleted",
    {
      state: "paused",
      at: before,
      pauses: [{ ...ann, scope: "annotation", by: "kubectl-annotate" }],
    },
    "is due, and does not run: it has the annotation drover.dev/paused, and is paused by kubectl-annotate for 5s (to resume it: take the annotation drover.dev/paused from it); it is being deleted, and finalize waits for the resume.",
    { deleted: true },
  ],
  [
    "is parked, and paused",
    { state: "parked", at: before, error: "no", pauses: [ann] },
    "a terminal error (then it does not run, because it is paused by ann@host for 5s (to resume it: drover resume default/buckets default/photos)): no",
  ],
  [
    "has a throttled account",
    { state: "ready", at: before, account: "team", accountOpens: soon },
    "is due, and waits for its account team, which is throttled for another 12s.",
  ],
])("an object that %s", (_what, report, sentence, others) => {
  const { summary } = explanationOf(facts(report, others));
  expect(summary).toMatch(/^Bucket default\/photos /);
  expect(summary).toContain(sentence);
});

it("the time of the next run is given where it is known", () => {
  const next = (report: Partial<KeyReport>) => explanationOf(facts(report)).nextRunAt;
  expect(next({ state: "waits", at: soon, why: "again" })).toBe("2026-01-01T00:00:12.000Z");
  expect(next({ state: "ready", at: before, accountOpens: soon })).toBe("2026-01-01T00:00:12.000Z");
  expect(next({ state: "waits", at: soon, why: "again", accountOpens: soon + 5_000 })).toBe(
    "2026-01-01T00:00:17.000Z",
  );
  expect(next({ state: "ready", at: before })).toBeUndefined();
  expect(next({ state: "parked", at: before })).toBeUndefined();
});
