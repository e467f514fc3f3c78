import { describe, expect, test } from "vitest";
import { type LabelSelector, matchesLabels, selectorQuery } from "./label-selector.ts";

const selected = (selector: LabelSelector, labels?: Record<string, string>) =>
  matchesLabels(selector, labels);

describe("a label selector", () => {
  test("that is empty selects everything", () => {
    expect(selected({})).toBe(true);
    expect(selectorQuery({})).toBe("");
  });

  test("matches if all of its requirements do", () => {
    const both: LabelSelector = {
      matchLabels: { a: "1" },
      matchExpressions: [{ key: "b", operator: "Exists" }],
    };
    expect(selected(both, { a: "1", b: "" })).toBe(true);
    expect(selected(both, { a: "1" })).toBe(false);
    expect(selected(both, { a: "2", b: "" })).toBe(false);
    expect(selectorQuery(both)).toBe("a=1,b");
  });

  test.each<[LabelSelector, string, Record<string, string>, boolean]>([
    [
      { matchExpressions: [{ key: "a", operator: "In", values: ["2", "1"] }] },
      "a in (1,2)",
      { a: "1" },
      true,
    ],
    [{ matchExpressions: [{ key: "a", operator: "In", values: ["1"] }] }, "a in (1)", {}, false],
    [
      { matchExpressions: [{ key: "a", operator: "NotIn", values: ["1"] }] },
      "a notin (1)",
      { a: "1" },
      false,
    ],
    [{ matchExpressions: [{ key: "a", operator: "NotIn", values: ["1"] }] }, "a notin (1)", {}, true],
    [{ matchExpressions: [{ key: "a", operator: "DoesNotExist" }] }, "!a", { a: "1" }, false],
    [{ matchExpressions: [{ key: "toString", operator: "DoesNotExist" }] }, "!toString", {}, true],
  ])("%j is %s", (selector, query, labels, holds) => {
    expect(selected(selector, labels)).toBe(holds);
    expect(selectorQuery(selector)).toBe(query);
  });
});
