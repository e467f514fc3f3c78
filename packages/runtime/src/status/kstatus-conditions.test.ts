import type { Condition } from "@drover/controller";
import { describe, expect, it } from "vitest";
import { statusToWrite, kstatusConditions } from "./status-writer.ts";

const condition = (type: string, status: Condition["status"]): Condition => ({
  type,
  status,
  reason: "Why",
  message: "A message.",
});
const of = (conditions: readonly Condition[], parked = false) =>
  kstatusConditions(conditions, { parked }).map(({ type, status, reason }) => [type, status, reason]);

describe("the condition for kstatus is", () => {
  const notReady = condition("Ready", "False");
  it.each([
    ["none, if it is Ready", [condition("Ready", "True")], false, []],
    ["Reconciling, if it is not Ready", [notReady], false, [["Reconciling", "True", "Why"]]],
    [
      "Reconciling, if Ready is Unknown",
      [condition("Ready", "Unknown")],
      false,
      [["Reconciling", "True", "Why"]],
    ],
    ["Stalled, if it is parked", [notReady], true, [["Stalled", "True", "Why"]]],
    ["none, if the function sets one", [notReady, condition("Stalled", "True")], false, []],
    ["none, without Ready", [condition("Other", "False")], false, []],
  ] as const)("%s", (_, conditions, parked, expected) => {
    expect(of(conditions, parked)).toEqual(expected);
  });

  it("one of the two, and replaces the former one", () => {
    const metadata = { name: "a", uid: "u", resourceVersion: "1", generation: 2 };
    let raw = { apiVersion: "a/v1", kind: "A", metadata, status: {} };
    const typesAfter = (ready: Condition["status"], parked: boolean): readonly string[] => {
      const conditions = [condition("Ready", ready)];
      const status = statusToWrite(
        raw,
        { fields: undefined, conditions, keepOthers: true, parked },
        new Date(0),
      );
      raw = { ...raw, status: status ?? raw.status };
      return (raw.status as { conditions: readonly Condition[] }).conditions.map(({ type }) => type);
    };
    expect(typesAfter("False", false)).toEqual(["Ready", "Reconciling"]);
    expect(typesAfter("False", true)).toEqual(["Ready", "Stalled"]);
    expect(typesAfter("False", false)).toEqual(["Ready", "Reconciling"]);
    expect(typesAfter("True", false)).toEqual(["Ready"]);
  });
});
