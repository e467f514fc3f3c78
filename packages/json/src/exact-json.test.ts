import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { exactInteger, IntegerTooLargeError, parseJson, writeJson } from "./exact-json.ts";
import { exactYaml } from "./exact-yaml.ts";

/* verification/integers holds it to Kubernetes' own package. */
describe("JSON", () => {
  it("has a BigInt for an integer that a double cannot hold, and a number for every other", () => {
    expect(parseJson("[9007199254740991,9007199254740992,-9007199254740993,9223372036854775807]")).toEqual([
      ...[9007199254740991, 9007199254740992n, -9007199254740993n, 9223372036854775807n],
    ]);
    expect(parseJson("[9223372036854775808,9007199254740993.0,9007199254740993e0,1e18]")).toEqual([
      ...[9223372036854775808, 9007199254740992, 9007199254740992, 1e18],
    ]);
  });

  it("has them wherever a value may stand, and digits in texts are texts", () => {
    const all = ' \n9007199254740993 | {"a":{"b":[1, 9007199254740993 ]}} | {"a":\t9007199254740993\n}'.split(
      "|",
    );
    for (const text of all) expect(writeJson(parseJson(text))).toContain("9007199254740993");
    const text = String.raw`["9007199254740993","a:9007199254740993","\",9007199254740993","[9007199254740993"]`;
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it("is data, whatever the names of its fields are", () => {
    const text = '{"__proto__":9007199254740993,"1":9007199254740993,"constructor":9007199254740993}';
    expect(Object.entries(parseJson(text) as object)).toHaveLength(3);
    expect(Object.getPrototypeOf(parseJson(text))).toBe(Object.prototype);
  });

  it("is written as it was, and a BigInt of more than 64 bits is refused by name", () => {
    const value = { a: 5n, b: [9223372036854775807n, 0.5, "x", undefined], c: undefined };
    expect(writeJson(value)).toBe('{"a":5,"b":[9223372036854775807,0.5,"x",null]}');
    expect(writeJson({ a: 1n }, 2)).toBe('{\n  "a": 1\n}');
    expect(() => writeJson({ a: { far: 2n ** 63n } })).toThrow(IntegerTooLargeError);
    expect(() => writeJson({ a: { far: 2n ** 63n } })).toThrow(
      "far: 9223372036854775808 has more than 64 bits",
    );
    const circle: unknown[] = [1n];
    circle.push(circle);
    expect(() => writeJson(circle)).toThrow(TypeError);
  });

  it("that breaks off, or is nested too deep, is refused", () => {
    expect(() => parseJson('{"a":9007199254740993')).toThrow(SyntaxError);
    expect(() => parseJson(`${"[".repeat(1e6)}9007199254740993${"]".repeat(1e6)}`)).toThrow(RangeError);
  });
});

it("YAML has the same integers", () => {
  const read = (text: string): unknown => parse(text, exactYaml.reviver, exactYaml.options);
  expect(read("{a: 1, b: -9007199254740993, c: [0x20000000000001], d: 1.5, e: '9007199254740993'}")).toEqual({
    ...{ a: 1, b: -9007199254740993n, c: [9007199254740993n], d: 1.5, e: "9007199254740993" },
  });
  expect(read("a: 18446744073709551616")).toEqual({ a: 2 ** 64 });
  expect(exactInteger(-(2n ** 53n))).toBe(-(2n ** 53n));
});
