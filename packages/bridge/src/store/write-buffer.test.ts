import { objectKey } from "@drover/controller";
import type { SeenChange, SeenObject } from "@drover/kube";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { writeBuffer } from "./write-buffer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const seen = (name: string, resourceVersion: string): SeenObject => ({
  key: objectKey({ name }),
  uid: name,
  resourceVersion,
  matched: { us: { view: "v", keys: [] } },
});
const change = (more: Partial<SeenChange>): SeenChange => ({
  put: [],
  forget: [],
  position: undefined,
  whole: false,
  ...more,
});

it("what is kept is due in time, however many changes follow, and once", () => {
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

it("what is dropped is never due", () => {
  const kept = writeBuffer(
    () => seen("a", "1"),
    () => expect.unreachable(),
  );
  kept.add(change({ put: [seen("a", "2")], position: "2" }));
  kept.drop();
  vi.advanceTimersByTime(1_000);
  expect(kept.drain()).toBeUndefined();
});
