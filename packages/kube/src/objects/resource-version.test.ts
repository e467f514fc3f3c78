import { expect, test } from "vitest";
import { versionOrder } from "./kube-object.ts";

test.each([
  ["9", "10", "older"],
  ["10", "9", "newer"],
  ["41", "42", "older"],
  ["7", "7", "same"],
  ["9007199254740993", "9007199254740992", "newer"],
  ["18446744073709551615", "18446744073709551616", "older"],
  ["0", "1", "older"],
  ["a7", "a8", "incomparable"],
  ["a7", "a7", "same"],
  ["7", "a8", "incomparable"],
  ["007", "8", "incomparable"],
  ["-1", "1", "incomparable"],
  ["1e3", "1", "incomparable"],
])("%s compared with %s is %s", (version, other, order) => {
  expect(versionOrder(version, other)).toBe(order);
});
