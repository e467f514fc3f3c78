import { expect, it } from "vitest";
import { covers } from "./keep-object.ts";

const live = { rules: [{ verbs: ["get"] }], spec: { port: 80, clusterIP: "10.0.0.1" }, empty: null };

it("is content with what a server adds", () => {
  expect(covers(live, { spec: { port: 80 } })).toBe(true);
  expect(covers(live, { spec: { port: 80, nothing: undefined }, list: [] })).toBe(true);
});

it("sees what is missing, and what is another thing", () => {
  expect(covers(live, { spec: { port: 81 } })).toBe(false);
  expect(covers(live, { more: { a: 1 } })).toBe(false);
  expect(covers(undefined, { a: 1 })).toBe(false);
});

it("wants lists whole: a permission more is one too many", () => {
  expect(covers(live, { rules: [{ verbs: ["get"] }] })).toBe(true);
  expect(covers({ rules: [{ verbs: ["get", "delete"] }] }, { rules: [{ verbs: ["get"] }] })).toBe(false);
  expect(covers({ rules: [{}, {}] }, { rules: [{}] })).toBe(false);
});
