import { expect, it } from "vitest";
import { allocationsOf, isAllocation, transfersOf } from "./allocations.ts";

const shares = (a: number, b: number, c: number) =>
  new Map([
    ["a", a],
    ["b", b],
    ["c", c],
  ]);

const listed = (...given: Parameters<typeof allocationsOf>) => {
  const found = allocationsOf(...given);
  return isAllocation(found) ? [...found] : found;
};

it("gives zones endpoints in proportion to their processors", () => {
  expect(listed(shares(0.5, 0.25, 0.25), 7)).toEqual([
    ["a", { minimum: 3, maximum: 3, desired: 3.5 }],
    ["b", { minimum: 2, maximum: 2, desired: 2 }],
    ["c", { minimum: 2, maximum: 2, desired: 2 }],
  ]);
  expect(listed(shares(0.5, 0.25, 0.25), 20)).toEqual([
    ["a", { minimum: 9, maximum: 10, desired: 10 }],
    ["b", { minimum: 5, maximum: 6, desired: 5 }],
    ["c", { minimum: 5, maximum: 6, desired: 5 }],
  ]);
});

it("gives none if there are too few endpoints, or some would have too much load", () => {
  expect(allocationsOf(shares(0.4, 0.3, 0.3), 2)).toEqual({
    problem: "Insufficient number of endpoints (2 endpoints, 3 zones)",
  });
  expect(allocationsOf(shares(0.9, 0.05, 0.05), 3)).toEqual({
    problem:
      "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 3 zones)",
  });
});

// The cases of Test_getGivingAndReceivingZones in k8s.io/endpointslice.
it.each([
  { desired: [1.2, 1.1, 1], has: [1, 1, 1], gives: {}, receives: {} },
  { desired: [5.1, 5.1, 5.8], has: [16, 0, 0], gives: { a: 10 }, receives: { b: 5, c: 5 } },
  { desired: [5, 5.6, 5.4], has: [16, 0, 0], gives: { a: 11 }, receives: { b: 6, c: 5 } },
  { desired: [5, 5.6, 5.4], has: [0, 8, 8], gives: { b: 2, c: 3 }, receives: { a: 5 } },
  { desired: [5, 5, 5], has: [6, 6, 6], gives: {}, receives: {} },
])("of $desired with $has, zones give $gives", ({ desired, has, gives, receives }) => {
  const zones = ["a", "b", "c"];
  const allocations = new Map(
    zones.map((zone, i) => [zone, { desired: desired[i] ?? 0, minimum: 0, maximum: 0 }]),
  );
  const { giving, receiving } = transfersOf(
    allocations,
    new Map(zones.map((zone, i) => [zone, has[i] ?? 0])),
  );
  expect([Object.fromEntries(giving), Object.fromEntries(receiving)]).toEqual([gives, receives]);
});
