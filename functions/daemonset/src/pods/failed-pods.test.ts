import { podSchema } from "@drover/workloads";
import { expect, it } from "vitest";
import { hashLabel } from "../revision/controller-revision.ts";
import { failureOf, failuresAnnotation } from "./failed-pods.ts";

const created = Date.parse("2026-01-01T00:00:00Z");
const pod = (failures?: string, hash = "new") =>
  podSchema.parse({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "agent",
      uid: "1",
      resourceVersion: "1",
      labels: { [hashLabel]: hash },
      creationTimestamp: new Date(created).toISOString(),
      ...(failures !== undefined && { annotations: { [failuresAnnotation]: failures } }),
    },
    spec: {},
  });
const waitOf = (failures: string | undefined, after = 0): number =>
  failureOf(pod(failures), "new", created + after).wait;

it("waits twice as long after each failure, up to 15 minutes", () => {
  expect([undefined, "1", "2", "3", "10", "11", "999999"].map((one) => waitOf(one))).toEqual([
    ...[0, 1_000, 2_000, 4_000, 512_000, 900_000, 900_000],
  ]);
  expect([waitOf("3", 1_500), waitOf("3", 4_000), waitOf("3", 9_000)]).toEqual([2_500, 0, 0]);
  expect(failureOf(pod("3"), "new", created).failures).toBe(4);
});

it("begins again for another template, after half an hour, and with a text that is no number", () => {
  const first = { failures: 1, wait: 0 };
  expect(failureOf(pod("3", "old"), "new", created)).toEqual(first);
  expect(failureOf(pod("3"), "new", created + 30 * 60_000 + 1)).toEqual(first);
  for (const text of ["", "-1", "1e3", "many"]) expect(failureOf(pod(text), "new", created)).toEqual(first);
});

it("waits no longer than that if the server's clock is ahead", () => {
  expect([waitOf(undefined, -60_000), waitOf("1", -60_000)]).toEqual([0, 1_000]);
});
