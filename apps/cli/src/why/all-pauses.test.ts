import type { KubeObject } from "@drover/kube";
import type { Pause } from "@drover/queue";
import { expect, it } from "vitest";
import { ignoredPauseWarning, allPauses } from "./all-pauses.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const kind = { group: "s3.drover.dev", plural: "buckets" };
const functions = { group: "drover.dev", plural: "reconcilefunctions" };
const object = (paused: string | undefined, managedFields?: unknown): KubeObject => ({
  apiVersion: "s3.drover.dev/v1",
  kind: "Bucket",
  metadata: {
    name: "photos",
    uid: "u",
    resourceVersion: "1",
    ...(paused !== undefined && { annotations: { "drover.dev/paused": paused } }),
    ...(managedFields !== undefined && { managedFields }),
  },
});
const entry = (manager: string, time: string, annotation: string) => ({
  manager,
  time,
  operation: "Update",
  fieldsV1: { "f:metadata": { "f:annotations": { ".": {}, [`f:${annotation}`]: {} } } },
});
const ann: Pause = { scope: "object", since: now - 9_000, by: "ann@host" };
const recorded: Pause = { scope: "annotation", since: now - 7_000, by: "" };

it("names the field manager that wrote the annotation, and when, beside other pauses", () => {
  const fields = [
    { manager: "broken" },
    entry("other", "2025-01-01T00:00:00Z", "example.com/note"),
    entry("kubectl-annotate", "2025-12-31T23:59:55Z", "drover.dev/paused"),
  ];
  expect(allPauses([ann, recorded], object("true", fields), kind, now)).toEqual([
    ann,
    { scope: "annotation", since: now - 5_000, by: "kubectl-annotate" },
  ]);
});

it("adds a pause that the queue has not recorded yet, also one without a known author", () => {
  expect(allPauses([ann], object("true"), kind, now)).toEqual([
    ann,
    { scope: "annotation", since: now, by: "" },
  ]);
  expect(allPauses([recorded], object("true", "garbage"), kind, now)).toEqual([recorded]);
  const later = [entry("m", "2027-01-01T00:00:00Z", "drover.dev/paused")];
  expect(allPauses([], object("true", later), kind, now)).toMatchObject([{ since: now, by: "m" }]);
});

it("leaves the queue's report as it is where the object is not paused, is gone, or is a ReconcileFunction", () => {
  for (const one of [undefined, object(undefined), object("yes")])
    expect(allPauses([recorded], one, kind, now)).toEqual([recorded]);
  expect(allPauses([], object("true"), functions, now)).toEqual([]);
});

it("names the session of drover dev that reconciles it, in place of the pause that the queue records for it", () => {
  const labelled = (annotation?: string): KubeObject => {
    const { metadata, ...rest } = object(annotation, [
      entry("kubectl-annotate", "2025-12-31T23:59:55Z", "drover.dev/paused"),
      {
        ...entry("drover-dev", "2025-12-31T23:59:50Z", ""),
        fieldsV1: { "f:metadata": { "f:labels": { "f:drover.dev/dev": {} } } },
      },
    ]);
    return { ...rest, metadata: { ...metadata, labels: { "drover.dev/dev": "ada-1" } } };
  };
  const session = { scope: "session", since: now - 10_000, by: "ada-1" };
  expect(allPauses([ann, recorded], labelled(), kind, now)).toEqual([ann, session]);
  expect(allPauses([], labelled("true"), kind, now)).toMatchObject([{ scope: "annotation" }]);
  expect(allPauses([], labelled(), functions, now)).toEqual([]);
});

it("warns of a value that pauses nothing", () => {
  expect(ignoredPauseWarning(object("True"))).toBe(
    'drover.dev/paused is "True", which pauses nothing: only "true" does',
  );
  expect([
    ignoredPauseWarning(object("true")),
    ignoredPauseWarning(object(undefined)),
    ignoredPauseWarning(undefined),
  ]).toEqual([undefined, undefined, undefined]);
});
