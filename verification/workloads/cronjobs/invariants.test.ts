import { expect, it } from "vitest";
import { objectAt, type JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Seen } from "../observe.ts";
import { timeAnnotation } from "./cron-job.ts";
import { violations } from "./invariants.ts";

let version = 0;
const seen = (kind: "CronJob" | "Job", type: Seen["type"], object: JsonObject): Seen => ({
  kind,
  type,
  object: { ...object, metadata: { ...objectAt(object, "metadata"), resourceVersion: String(++version) } },
});
const cronJob = (spec: JsonObject = {}): JsonObject => ({ metadata: { name: "web", uid: "cron" }, spec });
const job = (
  minute: number,
  { end, uid = `job-${minute}` }: { end?: string; uid?: string } = {},
): JsonObject => ({
  metadata: {
    name: `web-${minute}`,
    uid,
    annotations: { [timeAnnotation]: `2026-01-01T00:0${minute}:00Z` },
    ownerReferences: [{ kind: "CronJob", name: "web", uid: "cron", controller: true }],
  },
  ...(end !== undefined && { status: { conditions: [{ type: end, status: "True" }] } }),
});
const broken = (spec: JsonObject, during: readonly (() => Seen)[]): readonly string[] =>
  violations({
    action: { do: "minute" },
    before: [seen("CronJob", "ADDED", cronJob(spec))],
    during: during.map((make) => make()),
  });
const added =
  (...args: Parameters<typeof job>) =>
  () =>
    seen("Job", "ADDED", job(...args));
const modified =
  (...args: Parameters<typeof job>) =>
  () =>
    seen("Job", "MODIFIED", job(...args));

it("finds two Jobs for one time, one after the other", () => {
  const gone = () => seen("Job", "DELETED", job(1));
  expect(broken({}, [added(1), gone, added(2)])).toEqual([]);
  expect(broken({}, [added(1), gone, added(1, { uid: "again" })])).toEqual([
    "2 Jobs are started for web cron at 2026-01-01T00:01:00Z",
  ]);
});

it("finds a Job beside another one that Forbid keeps it from, whichever watch is first", () => {
  const beside = "web-2 is started beside web-1, which web forbids";
  expect(broken({ concurrencyPolicy: "Forbid" }, [added(1), added(2)])).toEqual([beside]);
  expect(broken({ concurrencyPolicy: "Allow" }, [added(1), added(2)])).toEqual([]);
  const ended = modified(1, { end: "Complete" });
  expect(broken({ concurrencyPolicy: "Forbid" }, [added(1), ended, added(2)])).toEqual([]);
  const allowed = () => seen("CronJob", "MODIFIED", cronJob());
  const first = [added(1), allowed, added(2)].map((make) => make());
  expect(
    violations({
      action: { do: "minute" },
      before: [seen("CronJob", "ADDED", cronJob({ concurrencyPolicy: "Forbid" }))].map((one) => ({
        ...one,
        object: { ...one.object, metadata: { ...objectAt(one.object, "metadata"), resourceVersion: "0" } },
      })),
      during: [first[2], first[0], first[1]].flatMap((one) => one ?? []),
    }),
  ).toEqual([]);
});

it("finds a Job that starts while its CronJob is suspended", () => {
  expect(broken({ suspend: true }, [added(1)])).toEqual(["web-1 is started while web is suspended"]);
  const resumed = () => seen("CronJob", "MODIFIED", cronJob());
  expect(broken({ suspend: true }, [resumed, added(1)])).toEqual([]);
});

it("finds more finished Jobs at rest than the limits", () => {
  const failed = [1, 2].flatMap((minute) => [added(minute), modified(minute, { end: "Failed" })]);
  expect(broken({}, failed)).toEqual(["web has 2 Jobs with Failed, and keeps 1"]);
  expect(broken({ failedJobsHistoryLimit: 2 }, failed)).toEqual([]);
});
