import { expect, it } from "vitest";
import { logFields } from "./log-fields.ts";

it.each<[string, unknown, unknown]>([
  ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["a URL, without its password", new URL("http://a:canary@h/x"), "http://***@h/x"],
  ["an object by its toJSON", { secret: "canary", toJSON: () => ({ name: "a" }) }, { name: "a" }],
  ["a bigint", 2n ** 63n, "9223372036854775808"],
  ["bytes, as their number", Buffer.from("canary"), "6 bytes"],
  ["a secret, without its value", { password: "canary", count: 1 }, { password: "***", count: 1 }],
  ["a list, item by item", [1, new Date(0), null], [1, "1970-01-01T00:00:00.000Z", null]],
])("logs %s in a readable form", (_, value, expected) => {
  expect(logFields({ value })).toEqual({ value: expected });
});

it("stops at a value that contains itself", () => {
  const cyclic: Record<string, unknown> = { name: "a" };
  cyclic["self"] = cyclic;
  expect(logFields(cyclic)).toEqual({ name: "a", self: "…" });
});
