import type { Condition } from "@drover/controller";
import { describe, expect, it } from "vitest";
import { statusToWrite, kstatusConditions } from "./status-writer.ts";

const condition = (type: string, status: Condition["status"]): Condition => ({
  type,
  status,
  reason: "Why",
  message: "In words.",
});
const of = (conditions: readonly Condition[], parked = false) =>
  kstatusConditions(conditions, { parked }).map(({ type, status, reason }) => [type, status, reason]);

describe("whether work is under way is said by", () => {
  it.each([
    ["nothing, where it is Ready", [condition("Ready", "True")], false, []],
    [
      "Reconciling, where it is not Ready",
      [condition("Ready", "False")],
      false,
      [["Reconciling", "True", "Why"]],
    ],
    [
      "Reconciling, where that is not known",
      [condition("Ready", "Unknown")],
      false,
      [["Reconciling", "True", "Why"]],
    ],
    ["Stalled, where it is parked", [condition("Ready", "False")], true, [["Stalled", "True", "Why"]]],
    [
      "nothing more, where the function says it",
      [condition("Ready", "False"), condition("Stalled", "True")],
      false,
      [],
    ],
    ["nothing, where nothing is said of Ready", [condition("Other", "False")], false, []],
  ] as const)("%s", (_, conditions, parked, expected) => {
    expect(of(conditions, parked)).toEqual(expected);
  });

  it("one of the two, and what it was before does not stay", () => {
    const metadata = { name: "a", uid: "u", resourceVersion: "1", generation: 2 };
    let raw = { apiVersion: "a/v1", kind: "A", metadata, status: {} };
    const say = (ready: Condition["status"], parked: boolean): readonly string[] => {
      const conditions = [condition("Ready", ready)];
      const status = statusToWrite(
        raw,
        { fields: undefined, conditions, keepOthers: true, parked },
        new Date(0),
      );
      raw = { ...raw, status: status ?? raw.status };
      return (raw.status as { conditions: readonly Condition[] }).conditions.map(({ type }) => type);
    };
    expect(say("False", false)).toEqual(["Ready", "Reconciling"]);
    expect(say("False", true)).toEqual(["Ready", "Stalled"]);
    expect(say("False", false)).toEqual(["Ready", "Reconciling"]);
    expect(say("True", false)).toEqual(["Ready"]);
  });
});
