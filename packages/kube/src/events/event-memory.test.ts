import { expect, test } from "vitest";
import { bucketRef } from "../testing/objects.ts";
import { eventMemory, repeatWindow } from "./event-memory.ts";
import type { RecordedEvent } from "./recorded-event.ts";

const event = (name: string): RecordedEvent => ({
  regarding: { ref: bucketRef, metadata: { name, namespace: "n", uid: `u-${name}`, resourceVersion: "7" } },
  type: "Normal",
  reason: "Created",
  action: "Create",
  note: "It is there.",
});

test.each([
  ["soon", 1],
  ["as another event", repeatWindow + 1],
])("an event that is reported again %s is not the oldest, which a new one replaces", (_when, later) => {
  const memory = eventMemory(2);
  const report = (name: string, at: number): void => memory.record(event(name), at, new Date(at));
  report("a", 0);
  report("b", 0);
  report("a", later);
  report("c", later);
  expect(memory.all().map((one) => one.event.regarding.metadata.name)).toEqual(["a", "c"]);
});
