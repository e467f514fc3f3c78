import { expect, it } from "vitest";
import { isPausedByAnnotation } from "./object-annotations.ts";

const pods = { group: "", plural: "pods" };
const paused = { annotations: { "drover.dev/paused": "true" } };

it("an object is paused by its annotation, but not a ReconcileFunction, which could avoid a review of its permissions", () => {
  expect(isPausedByAnnotation(pods, paused)).toBe(true);
  expect(isPausedByAnnotation(pods, {})).toBe(false);
  for (const value of ["", "false", "True", "yes"])
    expect(isPausedByAnnotation(pods, { annotations: { "drover.dev/paused": value } })).toBe(false);
  expect(isPausedByAnnotation({ group: "drover.dev", plural: "reconcilefunctions" }, paused)).toBe(false);
  expect(isPausedByAnnotation({ group: "example.com", plural: "reconcilefunctions" }, paused)).toBe(true);
  expect(isPausedByAnnotation({ group: "drover.dev", plural: "cups" }, paused)).toBe(true);
});
