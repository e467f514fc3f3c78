import { objectKey } from "@drover/controller";
import type { SeenChange, SeenObject } from "@drover/kube";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { seenChange as change } from "./held-stream.fixture.ts";
import { writeBuffer } from "./write-buffer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const seen = (name: string, resourceVersion: string): SeenObject => ({
  key: objectKey({ name }),
  uid: name,
  resourceVersion,
  matched: { us: { view: "v", keys: [] } },
});
it("buffered changes are due once, in time, even if more changes follow", () => {
  const due: (SeenChange | undefined)[] = [];
  const kept = writeBuffer(
    () => seen("a", "1"),
    () => void due.push(kept.drain()),
  );
  for (let i = 1; i <= 4; i++) {
    expect(kept.add(change({ put: [seen("a", String(i))], position: String(i) }))).toBeUndefined();
    vi.advanceTimersByTime(50);
  }
  expect(due).toEqual([change({ put: [seen("a", "4")], position: "4" })]);
  vi.advanceTimersByTime(1_000);
  expect(due).toHaveLength(1);
  kept.add(change({ position: "5" }));
  vi.advanceTimersByTime(200);
  expect(due.at(-1)).toEqual(change({ position: "5" }));
});

it("dropped changes are never due", () => {
  const kept = writeBuffer(
    () => seen("a", "1"),
    () => expect.unreachable(),
  );
  kept.add(change({ put: [seen("a", "2")], position: "2" }));
  kept.drop();
  vi.advanceTimersByTime(1_000);
  expect(kept.drain()).toBeUndefined();
});
