import { describe, expect, it } from "vitest";
import { brokenEvents, isEndOfList, type PassedLines, typeOfEvent, wrongEnd } from "./broken-events.ts";
import type { EventFault } from "../plan/faults.ts";

const event = (name: string): string =>
  JSON.stringify({ type: "ADDED", object: { metadata: { name, uid: "u", resourceVersion: "7" } } });
/** The third of three lines, with a fault. */
const third = (fault: EventFault["do"]) => {
  const events = brokenEvents();
  for (const name of ["one", "two"]) events.pass(event(name), undefined);
  return events.pass(event("three"), fault === "delay" ? { do: fault, for: 1 } : { do: fault });
};

describe("a line of a watch", () => {
  it("passes unchanged without a fault, and after a delay", () => {
    const asItIs = { lines: [event("one")], then: "go on" };
    expect(brokenEvents().pass(event("one"), undefined)).toEqual(asItIs);
    expect(brokenEvents().pass(event("one"), { do: "delay", for: 5 })).toEqual(asItIs);
  });
  it("has a type only if it is an event", () => {
    expect(typeOfEvent(event("one"))).toBe("ADDED");
    for (const other of [`{"type":"BOOKMARK","object":{}}`, `{"type":"ERROR","object":{}}`, "{{"])
      expect(typeOfEvent(other)).toBeUndefined();
  });
  const half = event("three").slice(0, event("three").length >> 1);
  it.each<[string, EventFault["do"], PassedLines]>([
    ["breaks off in the middle, by a reset", "cut", { lines: [], rest: half, then: "reset" }],
    ["breaks off in the middle, by an orderly end", "truncate", { lines: [], rest: half, then: "end" }],
  ])("%s", (_, fault, expected) => {
    expect(third(fault)).toEqual(expected);
  });
  it("has no uid", () => {
    expect(third("no uid").lines[0]).not.toContain("uid");
  });
  it("keeps large integers", () => {
    const line = event("one").replace('"u"', '"u","n":9007199254740993');
    const { lines } = brokenEvents().pass(line, { do: "no uid" });
    expect(lines[0]).toContain('"n":9007199254740993');
  });
  it("is 2 MiB large, with the same fields", () => {
    const [line] = third("huge").lines;
    expect(line!.length).toBeGreaterThan(2 ** 21);
    expect(JSON.parse(line!)).toMatchObject(JSON.parse(event("three")) as object);
  });
  it("is an error without a code instead", () => {
    const { lines, then } = third("error");
    expect(JSON.parse(lines[0]!)).toEqual({
      type: "ERROR",
      object: { kind: "Status", apiVersion: "v1", status: "Failure" },
    });
    expect(then).toBe("end");
  });
});

describe("the end of a streamed list", () => {
  const metadata = { resourceVersion: "7", annotations: { "k8s.io/initial-events-end": "true" } };
  const end = JSON.stringify({ type: "BOOKMARK", object: { metadata } });
  const instead = (kind: Parameters<typeof wrongEnd>[0]): unknown[] =>
    wrongEnd(kind, end).lines.map((line) => JSON.parse(line) as unknown);

  it("is distinguished from other bookmarks", () => {
    expect(isEndOfList(end)).toBe(true);
    expect(isEndOfList(`{"type":"BOOKMARK","object":{}}`)).toBe(false);
    expect(isEndOfList(event("one"))).toBe(false);
  });
  it("is not sent", () => {
    expect(instead("endless")).toEqual([
      { type: "BOOKMARK", object: { metadata: { resourceVersion: "7" } } },
    ]);
    expect(wrongEnd("truncated", end)).toMatchObject({ lines: [], then: "end" });
    expect(instead("expired")).toMatchObject([{ type: "ERROR", object: { code: 410 } }]);
  });
  it("is sent without its version, or after an object without uid", () => {
    expect(instead("no metadata")).toEqual([{ type: "BOOKMARK", object: {} }]);
    expect(instead("no uid")).toHaveLength(2);
  });
});
