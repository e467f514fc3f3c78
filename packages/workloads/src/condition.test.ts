import { expect, it } from "vitest";
import { conditionOf, isSameStatus, withCondition, withoutCondition } from "./condition.ts";

const [a, b] = [
  { type: "A", status: "True" },
  { type: "B", status: "True" },
];

it("a condition takes the place of the one of its type, and is the last", () => {
  const other = { type: "A", status: "False" };
  expect(withCondition([a, b], other)).toEqual([b, other]);
  expect(withCondition(undefined, a)).toEqual([a]);
  expect(withoutCondition([a, b], "A")).toEqual([b]);
  expect([conditionOf([a, b], "B"), conditionOf(undefined, "B")]).toEqual([b, undefined]);
});

interface Stated {
  readonly replicas?: number | undefined;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}
it.each<[Stated, Stated, boolean]>([
  [{ conditions: [a] }, { conditions: [a] }, true],
  [{ conditions: [a] }, { conditions: [b] }, false],
  [{ conditions: [a, b] }, { conditions: [a] }, false],
  [{}, { conditions: [] }, true],
  [{ replicas: 1 }, { replicas: 2 }, false],
  [{ replicas: 1 }, {}, false],
  [{ replicas: undefined }, {}, true],
])("%j and %j are equal conditions: %s", (one, other, is) => {
  expect(isSameStatus(one, other)).toBe(is);
});
