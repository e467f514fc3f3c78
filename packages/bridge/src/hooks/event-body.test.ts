import { expect, it } from "vitest";
import { parseBody, refuseType } from "./event-body.ts";
import { headersOf } from "./hook.fixture.ts";

const parse = (text: string) => parseBody(Buffer.from(text));
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

it("accepts JSON, also with brackets in strings", () => {
  const deepText = { text: `${nested(500)}\\"${nested(500)}` };
  expect(parse(JSON.stringify(deepText))).toEqual(deepText);
  expect(parse(nested(100))).toBeDefined();
  expect(parse(JSON.stringify(Array.from({ length: 1_000 }, () => ({}))))).toHaveLength(1_000);
});

it.each([nested(101), nested(10_000), '{"a":'.repeat(10_000), "[{".repeat(60), `["\\\\",${nested(101)}]`])(
  "refuses JSON that is nested too deep",
  (text) => expect(() => parse(text)).toThrow(/nested deeper than 100/),
);

it("refuses more fields than the limit, at any depth; colons in strings are not counted", () => {
  const fields = (count: number) => `{${Array.from({ length: count }, (_, i) => `"${i}":":"`).join()}}`;
  expect(parse(fields(30_000))).toBeDefined();
  expect(() => parse(fields(30_001))).toThrow(/has more than 30000 fields/);
  expect(() => parse(`[${'{"a":1},'.repeat(30_001)}1]`)).toThrow(/has more than 30000 fields/);
});

it.each(["", "{", "a=1", "<html>", "NaN", '{"a":1}{"b":2}'])("refuses %j, which is not JSON", (text) => {
  expect(() => parse(text)).toThrow(/not JSON in UTF-8/);
});

it("refuses bytes that are not UTF-8", () => {
  expect(() => parseBody(Buffer.from([0x22, 0xff, 0x22]))).toThrow(/not JSON in UTF-8/);
});

it.each([
  [{ "content-type": "text/plain" }, /Send JSON/],
  [{ "content-type": "application/x-www-form-urlencoded" }, /Send JSON/],
  [{ "content-type": "application/cloudevents-batch+json" }, /Send JSON/],
  [{}, /Send JSON/],
])("refuses by its headers %j", (headers, message) => {
  expect(() => refuseType(headersOf({ ...headers }))).toThrow(message);
});

it.each(["application/json", "application/json; charset=utf-8", "Application/CloudEvents+JSON"])(
  "accepts %s",
  (type) => {
    expect(() => refuseType(headersOf({ "content-type": type }))).not.toThrow();
  },
);
