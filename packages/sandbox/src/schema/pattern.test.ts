// The cases of the conformance suite compare patterns with a real server. These have no other judge.
import { expect, it } from "vitest";
import { matches, patternProblem } from "./pattern.ts";

it("a lone surrogate is matched as the decoder of Go reads it", () => {
  expect(matches("^\ufffd$", "\ud800")).toBe(true);
});

it("a property whose name only a real server can decide is refused", () => {
  expect(patternProblem("\\p{Letter}")).toContain("the sandbox does not know the property \\p{Letter}");
  expect(patternProblem("\\p{^Greek}\\P{Lu}")).toBeUndefined();
});
