import { expect, it } from "vitest";
import { cup, cupSpec } from "./testing/cups.ts";
import { validateSpec } from "./validate-spec.ts";

const refusing = (fields: object, name = "gadgets") => {
  const spec = cupSpec(fields);
  return () => validateSpec({ metadata: { name }, spec });
};
const called = { delivery: "webhook" };
const service = { name: "a" };

it.each([
  ["pulls", {}],
  ["is called at its own Service", { ...called, container: { image: "i" } }],
  ["is called at another Service", { ...called, webhook: { service } }],
  ["is called elsewhere", { ...called, webhook: { url: "https://example.com" } }],
])("takes one that %s", (_what, fields) => {
  expect(refusing(fields)).not.toThrow();
});

it.each([
  ["is called nowhere", called, /the address is missing/],
  ["is called at two places", { ...called, webhook: { service, url: "https://example.com" } }, /not both/],
  [
    "is to be sent Secrets",
    { ...called, webhook: { service }, for: { ...cup, group: "", kind: "Secret", plural: "secrets" } },
    /never sent over HTTP/,
  ],
  ["is not called, and has an address", { webhook: { service } }, /goes with delivery: webhook/],
])("refuses one that %s", (_what, fields, problem) => {
  expect(refusing(fields)).toThrow(problem);
});

it("refuses a name that no controller can have", () => {
  expect(refusing({}, "a".repeat(63))).not.toThrow();
  expect(refusing({}, "a".repeat(64))).toThrow(/63 characters at most, not 64/);
});
