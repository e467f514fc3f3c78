import { expect, it } from "vitest";
import { threeWayMergePatch } from "./three-way-merge-patch.ts";

it.each([
  [
    "changes what differs, and nothing else",
    { a: 1, b: { c: 2, d: 3 } },
    {},
    { a: 1, b: { c: 1, d: 3 } },
    { b: { c: 2 } },
  ],
  ["adds what is not there", { a: { b: 1 } }, {}, {}, { a: { b: 1 } }],
  ["takes away what was applied and is left out now", { a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }, { b: null }],
  ["leaves alone what others have added", { a: 1 }, { a: 1 }, { a: 1, paused: true }, undefined],
  ["leaves alone what is gone already", { a: 1 }, { a: 1, b: 2 }, { a: 1 }, undefined],
  ["replaces lists whole", { a: [1, 2] }, {}, { a: [1] }, { a: [1, 2] }],
  [
    "leaves defaults alone, however deep",
    { a: { b: 1 } },
    { a: { b: 1 } },
    { a: { b: 1, c: "10m" } },
    undefined,
  ],
  [
    "takes away deep inside",
    { a: { b: 1 } },
    { a: { b: 1, c: 2 } },
    { a: { b: 1, c: 2 } },
    { a: { c: null } },
  ],
])("a patch %s", (_what, wanted, applied, present, patch) => {
  expect(threeWayMergePatch(wanted, applied, present)).toEqual(patch);
});
