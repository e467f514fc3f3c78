import { expect, it } from "vitest";
import { logFields } from "./log-fields.ts";

it.each<[string, unknown, unknown]>([
  ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["a URL, without its password", new URL("http://a:canary@h/x"), "http://***@h/x"],
  ["what it makes of itself", { secret: "canary", toJSON: () => ({ name: "a" }) }, { name: "a" }],
  ["a bigint", 2n ** 63n, "9223372036854775808"],
  ["bytes, as their number", Buffer.from("canary"), "6 bytes"],
  ["under a secret's name, nothing", { password: "canary", count: 1 }, { password: "***", count: 1 }],
  ["of a list, each", [1, new Date(0), null], [1, "1970-01-01T00:00:00.000Z", null]],
])("has of %s what people can read", (_, value, expected) => {
  expect(logFields({ value })).toEqual({ value: expected });
});

it("ends where a value contains itself", () => {
  const cyclic: Record<string, unknown> = { name: "a" };
  cyclic["self"] = cyclic;
  expect(logFields(cyclic)).toEqual({ name: "a", self: "…" });
});
