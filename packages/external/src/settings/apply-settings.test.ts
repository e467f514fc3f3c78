import { expect, test } from "vitest";
import { writtenAfter } from "./apply-settings.ts";
import { digestOf } from "./difference.ts";
import { SettingRefusal, type Setting, type SettingValue } from "./setting.ts";

const wanted = new Map<string, SettingValue>([
  ["good", { a: 1 }],
  ["bad", { a: 2 }],
]);
const setting: Setting = {
  name: "list",
  wanted,
  read: () => Promise.resolve(new Map()),
  write: () => Promise.resolve(undefined),
};
const after = (refusal: SettingRefusal, before: Record<string, string> = {}) =>
  writtenAfter(
    [
      {
        setting,
        change: { all: wanted, set: wanted, removed: [] },
        differences: new Map(),
        drifted: [],
        added: {},
      },
    ],
    [{ setting: "list", refusal }],
    before,
    () => true,
  );

test("of a refused list, the items that the server took count as written", () => {
  const partly = new SettingRefusal("InvalidSetting", "m", ["good"]);
  expect(after(partly)).toEqual({ "list/good": digestOf({ a: 1 }) });
  expect(after(partly, { "list/bad": "former" })).toEqual({
    "list/good": digestOf({ a: 1 }),
    "list/bad": "former",
  });
});

test("of a list that was refused completely, nothing counts as written", () => {
  expect(after(new SettingRefusal("NotSupported", "m"))).toEqual({});
});
