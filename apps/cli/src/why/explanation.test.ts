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

interface Known {
  readonly report: Partial<KeyReport>;
  readonly status?: KeyFacts["fn"]["status"];
  readonly absent?: true;
  readonly deleted?: true;
}

const facts = ({ report, status = {}, absent, deleted }: Known): KeyFacts => ({
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

it.each<[string, Known, string]>([
  [
    "is not in the ledger",
    { report: { state: "unknown" } },
    "is not in the ledger: the bridge has not queued it yet, or the namespaces or labels of buckets exclude it",
  ],
  ["is not there", { report: { state: "unknown" }, absent: true }, "does not exist, and is not in the queue"],
  [
    "a function not in use is for",
    { report: { state: "unknown" }, status: { problem: "Its name is taken." } },
    "buckets is not in use: Its name is taken.",
  ],
  ["rests", { report: {} }, "is idle: nothing is due. It runs when it changes."],
  [
    "rests, and is paused",
    { report: { pauses: [ann] } },
    "is idle, and does not run when it changes: it is paused by ann@host for 5s (to resume it: drover resume default/buckets default/photos).",
  ],
  [
    "runs",
    { report: { state: "leased", at: soon } },
    "runs now: a worker holds it, for at least another 12s.",
  ],
  [
    "is in backoff",
    { report: { state: "waits", at: soon, why: "backoff", fails: 3, error: "ECONNREFUSED" } },
    "is tried again in 12s, after 3 failures in a row; a change makes it run at once: ECONNREFUSED",
  ],
  [
    "is in backoff, and paused",
    {
      report: {
        state: "waits",
        at: soon,
        why: "backoff",
        fails: 1,
        pauses: [{ ...ann, scope: "namespace" }],
      },
    },
    "after 1 failure; a change makes it run at once. Then it does not run, because its namespace is paused by ann@host for 5s (to resume it: drover resume default/buckets --in default).",
  ],
  [
    "killed its workers",
    { report: { state: "waits", at: soon, why: "lease ended", fails: 2 } },
    "is tried again in 12s: its worker died during its last 2 runs.",
  ],
  ["is well", { report: { state: "waits", at: soon, why: "again" } }, "is reconciled, and runs again in 12s"],
  [
    "is waited for",
    { report: { state: "waits", at: soon, why: "wait" } },
    "is not done, and its last run asked to run again in 12s.",
  ],
  [
    "met a conflict",
    { report: { state: "waits", at: soon, why: "conflict" } },
    "is tried again in 12s: another client changed it",
  ],
  [
    "a newer version has run",
    { report: { state: "waits", at: soon, why: "newer function" } },
    "waits for a Pod of the newer version",
  ],
  [
    "is parked",
    { report: { state: "parked", at: before, error: "region is immutable" } },
    "is parked until it changes, because its last run ended with a terminal error: region is immutable",
  ],
  [
    "is given up on",
    { report: { state: "parked", why: "backoff", fails: 5, error: "no" } },
    "is parked after 5 failures in a row, until it changes: no",
  ],
  [
    "waits for a worker",
    { report: { state: "dispatched", at: before } },
    "has been due for 5s, and waits for a free worker: 7 are due and 2 run.",
  ],
  [
    "has no worker",
    { report: { state: "ready", at: before }, status: { readyReplicas: 0 } },
    "has been due for 5s, and waits for a Pod of buckets: none is Ready (NoPodReady: Its Pods are starting.)",
  ],
  [
    "has no worker, and no count of workers",
    { report: { state: "ready", at: before }, status: { readyReplicas: undefined } },
    "has been due for 5s, and waits for a Pod of buckets: none is Ready",
  ],
  [
    "is overdue",
    { report: { state: "waits", at: before, why: "again" } },
    "has been due for 5s, and waits for a free worker",
  ],
  [
    "is overdue, and paused",
    { report: { state: "waits", at: before, why: "again", pauses: [ann] } },
    "is due, and does not run: it is paused by ann@host for 5s (to resume it: drover resume default/buckets default/photos).",
  ],
  [
    "is paused",
    {
      report: {
        state: "ready",
        at: before,
        pauses: [
          { ...ann, scope: "controller" },
          { ...ann, by: "" },
        ],
      },
    },
    "is due, and does not run: all of default/buckets is paused by ann@host for 5s (to resume it: drover resume default/buckets --all); it is paused for 5s (to resume it: ",
  ],
  [
    "has the annotation, and is being deleted",
    {
      report: {
        state: "paused",
        at: before,
        pauses: [{ ...ann, scope: "annotation", by: "kubectl-annotate" }],
      },
      deleted: true,
    },
    "is due, and does not run: it has the annotation drover.dev/paused, and is paused by kubectl-annotate for 5s (to resume it: take the annotation drover.dev/paused from it); it is being deleted, and finalize waits for the resume.",
  ],
  [
    "is parked, and paused",
    { report: { state: "parked", at: before, error: "no", pauses: [ann] } },
    "a terminal error (then it does not run, because it is paused by ann@host for 5s (to resume it: drover resume default/buckets default/photos)): no",
  ],
  [
    "has a throttled account",
    { report: { state: "ready", at: before, account: "team", accountOpens: soon } },
    "is due, and waits for its account team, which is throttled for another 12s.",
  ],
])("an object that %s", (_what, known, sentence) => {
  const { summary } = explanationOf(facts(known));
  expect(summary).toMatch(/^Bucket default\/photos /);
  expect(summary).toContain(sentence);
});

it("the time of the next run is given where it is known", () => {
  const next = (report: Partial<KeyReport>) => explanationOf(facts({ report })).nextRunAt;
  expect(next({ state: "waits", at: soon, why: "again" })).toBe("2026-01-01T00:00:12.000Z");
  expect(next({ state: "ready", at: before, accountOpens: soon })).toBe("2026-01-01T00:00:12.000Z");
  expect(next({ state: "waits", at: soon, why: "again", accountOpens: soon + 5_000 })).toBe(
    "2026-01-01T00:00:17.000Z",
  );
  expect(next({ state: "ready", at: before })).toBeUndefined();
  expect(next({ state: "parked", at: before })).toBeUndefined();
});
