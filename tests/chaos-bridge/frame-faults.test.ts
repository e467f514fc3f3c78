import { describe, expect, it } from "vitest";
import { frameFaults, isEndOfList, wrongEnd } from "./frame-faults.ts";
import type { FrameFaultKind } from "./schedule.ts";

const event = (name: string): string =>
  JSON.stringify({ type: "ADDED", object: { metadata: { name, uid: "u", resourceVersion: "7" } } });
/** The third of three lines, with a fault. */
const third = (kind: FrameFaultKind) => {
  const faults = frameFaults();
  for (const name of ["one", "two"]) faults.pass(event(name), () => undefined);
  return faults.pass(event("three"), () => kind);
};

describe("a line of a watch", () => {
  it("passes as it is where no fault meets it, and meets none when it is a bookmark", () => {
    const bookmark = `{"type":"BOOKMARK","object":{}}`;
    expect(frameFaults().pass(event("one"), () => undefined)).toEqual({
      lines: [event("one")],
      then: "go on",
    });
    expect(frameFaults().pass(bookmark, () => "frame-swallow").lines).toEqual([bookmark]);
  });
  it("never comes when it is swallowed", () => {
    expect(third("frame-swallow")).toEqual({ lines: [], then: "go on" });
  });
  it("comes twice, or with all before it", () => {
    expect(third("frame-repeat").lines).toEqual([event("three"), event("three")]);
    expect(third("frame-replay").lines).toEqual(["three", "one", "two", "three"].map(event));
  });
  it("is garbage, and on it goes", () => {
    const { lines, then } = third("frame-garbage");
    expect(() => void JSON.parse(lines[0]!)).toThrow();
    expect(then).toBe("go on");
  });
  it("has no uid", () => {
    expect(third("frame-no-uid").lines[0]).not.toContain("uid");
  });
  it("is 2 MiB large, and says the same", () => {
    const [line] = third("frame-huge").lines;
    expect(line!.length).toBeGreaterThan(2 ** 21);
    expect(JSON.parse(line!)).toMatchObject(JSON.parse(event("three")) as object);
  });
  it("breaks off in the middle, in order or not", () => {
    const half = event("three").slice(0, event("three").length >> 1);
    expect(third("frame-cut")).toEqual({ lines: [], rest: half, then: "reset" });
    expect(third("frame-truncated")).toEqual({ lines: [], rest: half, then: "end" });
  });
  it.each([
    ["frame-410", 410],
    ["frame-error-500", 500],
    ["frame-error-no-code", undefined],
  ] as const)("is an error instead: %s", (kind, code) => {
    const { lines, then } = third(kind);
    expect(JSON.parse(lines[0]!)).toMatchObject({ type: "ERROR", object: { kind: "Status" } });
    expect((JSON.parse(lines[0]!) as { object: { code?: number } }).object.code).toBe(code);
    expect(then).toBe("end");
  });
});

describe("the end of a streamed list", () => {
  const metadata = { resourceVersion: "7", annotations: { "k8s.io/initial-events-end": "true" } };
  const end = JSON.stringify({ type: "BOOKMARK", object: { metadata } });
  const instead = (kind: Parameters<typeof wrongEnd>[0]): unknown[] =>
    wrongEnd(kind, end).lines.map((line) => JSON.parse(line) as unknown);

  it("is told from other bookmarks", () => {
    expect(isEndOfList(end)).toBe(true);
    expect(isEndOfList(`{"type":"BOOKMARK","object":{}}`)).toBe(false);
    expect(isEndOfList(event("one"))).toBe(false);
  });
  it("never comes", () => {
    expect(instead("list-endless")).toEqual([
      { type: "BOOKMARK", object: { metadata: { resourceVersion: "7" } } },
    ]);
    expect(wrongEnd("list-truncated", end)).toMatchObject({ lines: [], then: "end" });
    expect(instead("list-410")).toMatchObject([{ type: "ERROR", object: { code: 410 } }]);
  });
  it("comes without its version, or after an object without uid", () => {
    expect(instead("list-no-metadata")).toEqual([{ type: "BOOKMARK", object: {} }]);
    expect(instead("list-no-uid")).toHaveLength(2);
  });
});
