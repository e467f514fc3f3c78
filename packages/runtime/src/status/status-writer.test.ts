import { type Condition, type StatusCondition, timestamp } from "@drover/controller";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasReadyChanged, kstatusConditions, statusToWrite } from "./status-writer.ts";

/** An object with this status, of which a run has read this generation. */
const objectOf = (status: object, generation = 1) => {
  const metadata = { name: "a", uid: "u", resourceVersion: "1", generation };
  return { apiVersion: "a/v1", kind: "A", metadata, status };
};
const ready = { type: "Ready", status: "True", reason: "Well", message: "" } as const;

it.each([32_767, 32_768])(
  "a message that is cut within a character is well-formed, and not written again by each run: %i letters",
  (letters) => {
    const message = `${"x".repeat(letters - 1)}🏺🏺`;
    const report = { fields: undefined, keepOthers: false, conditions: [{ ...ready, message }] };
    const status = statusToWrite(objectOf({}), report, new Date(0)) as {
      conditions: readonly { message: string }[];
    };
    const written = status.conditions[0]?.message ?? "";
    expect(written).toHaveLength(32_768);
    expect(written.isWellFormed()).toBe(true);
    // As a server stores it.
    const stored = JSON.parse(
      new TextDecoder().decode(new TextEncoder().encode(JSON.stringify(status))),
    ) as object;
    expect(statusToWrite(objectOf(stored), report, new Date(1))).toBeUndefined();
  },
);

it("a status with another integer is written, even if their doubles are equal, and not with an equal one", () => {
  const stated = (n: number | bigint) => ({ fields: { n }, keepOthers: false, conditions: [ready] });
  const before = (n: number | bigint) =>
    objectOf(statusToWrite(objectOf({}), stated(n), new Date(0)) ?? expect.fail("Nothing is written."));
  const large = 2n ** 53n;
  expect(statusToWrite(before(large), stated(large + 1n), new Date(1))).toMatchObject({ n: large + 1n });
  expect(statusToWrite(before(large), stated(large), new Date(1))).toBeUndefined();
  // A small BigInt is read again as a number.
  expect(statusToWrite(before(5), stated(5n), new Date(1))).toBeUndefined();
});

it("a condition's lastTransitionTime is the last change of its status, for any reason, message and generation", () => {
  const message = fc.constantFrom("A", "B");
  const status = fc.constantFrom("True" as const, "False" as const, "Unknown" as const);
  const conditionOf = (type: string) =>
    fc.record({ type: fc.constant(type), status, reason: message, message });
  const step = fc.record({
    conditions: fc.tuple(conditionOf("Ready"), conditionOf("Scaled")),
    passed: fc.integer({ min: 1, max: 100 }),
    generation: fc.nat(3),
    keepOthers: fc.boolean(),
  });
  const isHeld = fc.property(fc.array(step, { minLength: 2, maxLength: 12 }), (steps) => {
    const since = new Map<string, string>();
    let stored: object = {};
    let now = 0;
    for (const { conditions, passed, generation, keepOthers } of steps) {
      now += passed * 1_000;
      const report = { fields: undefined, conditions, keepOthers };
      stored = statusToWrite(objectOf(stored, generation), report, new Date(now)) ?? stored;
      const written = (stored as { conditions: readonly StatusCondition[] }).conditions;
      const standing = new Map(
        written.map(({ type, ...one }) => [`${type} ${one.status}`, one.lastTransitionTime]),
      );
      for (const name of since.keys()) if (!standing.has(name)) since.delete(name);
      for (const name of standing.keys()) if (!since.has(name)) since.set(name, timestamp(new Date(now)));
      expect(standing).toEqual(since);
      expect(written).toEqual(
        expect.arrayContaining(conditions.map((one) => expect.objectContaining(one) as unknown)),
      );
    }
  });
  fc.assert(isHeld, { numRuns: 200 });
});

it.each<[string, Partial<Condition> | undefined, Partial<Condition>, boolean]>([
  ["another status", { status: "False" }, { status: "True" }, true],
  ["another reason", { status: "False", reason: "Waiting" }, { status: "False", reason: "Failed" }, true],
  ["only another message", { message: "one" }, { message: "two" }, false],
  ["a failure, at first", undefined, { status: "False" }, true],
  ["a success, at first", undefined, { status: "True" }, false],
])("hasReadyChanged is right for %s", (_what, before, now, expected) => {
  const stated = { ...ready, ...before, lastTransitionTime: "2026-01-01T00:00:00Z" };
  const conditions = [{ ...stated, type: "Full", status: "False" }, ...(before ? [stated] : [])];
  expect(hasReadyChanged(objectOf({ conditions }), { ...ready, ...now })).toBe(expected);
});

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
    let stored: object = {};
    const typesAfter = (is: Condition["status"], parked: boolean): readonly string[] => {
      const report = { fields: undefined, conditions: [condition("Ready", is)], keepOthers: true, parked };
      stored = statusToWrite(objectOf(stored, 2), report, new Date(0)) ?? stored;
      return (stored as { conditions: readonly Condition[] }).conditions.map(({ type }) => type);
    };
    expect(typesAfter("False", false)).toEqual(["Ready", "Reconciling"]);
    expect(typesAfter("False", true)).toEqual(["Ready", "Stalled"]);
    expect(typesAfter("False", false)).toEqual(["Ready", "Reconciling"]);
    expect(typesAfter("True", false)).toEqual(["Ready"]);
  });
});
