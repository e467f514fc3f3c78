import { expect, it } from "vitest";
import { edited } from "./edits.ts";

const object = {
  spec: {
    containers: [
      { name: "a", image: "1" },
      { name: "b", image: "2", args: ["x"] },
    ],
  },
};

it.each([
  [
    "sets a field of a list's item",
    ["spec", "containers", { name: "b" }, "image"],
    "3",
    { image: "3", args: ["x"] },
  ],
  ["removes one", ["spec", "containers", { name: "b" }, "args"], null, { image: "2" }],
] as const)("%s", (_, path, value, b) => {
  expect(edited(object, path, value)).toEqual({
    spec: {
      containers: [
        { name: "a", image: "1" },
        { name: "b", ...b },
      ],
    },
  });
});

it("adds an item, and removes one", () => {
  expect(edited(object, ["spec", "containers", { name: "c" }], { image: "3" })).toEqual({
    spec: { containers: [...object.spec.containers, { name: "c", image: "3" }] },
  });
  expect(edited(object, ["spec", "containers", { name: "a" }], null)).toEqual({
    spec: { containers: object.spec.containers.slice(1) },
  });
});

it("adds maps that are missing", () => {
  expect(edited({}, ["metadata", "labels", "a"], "1")).toEqual({ metadata: { labels: { a: "1" } } });
});
