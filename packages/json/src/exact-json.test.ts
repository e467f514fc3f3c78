import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { exactInteger, IntegerTooLargeError, parseJson, writeJson } from "./exact-json.ts";
import { exactYaml } from "./exact-yaml.ts";

/** The error message of JSON.parse, which has an excerpt of the text. */
function messageOf(text: string): string {
  try {
    return `It is JSON: ${JSON.stringify(JSON.parse(text))}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/* verification/integers compares this with Kubernetes' own package. */
describe("JSON", () => {
  it("has a BigInt for an integer that a double cannot hold, and a number for every other", () => {
    expect(parseJson("[9007199254740991,9007199254740992,-9007199254740993,9223372036854775807]")).toEqual([
      ...[9007199254740991, 9007199254740992n, -9007199254740993n, 9223372036854775807n],
    ]);
    expect(parseJson("[9223372036854775808,9007199254740993.0,9007199254740993e0,1e18]")).toEqual([
      ...[9223372036854775808, 9007199254740992, 9007199254740992, 1e18],
    ]);
  });

  it("has them in any position of a value, and digits in strings are strings", () => {
    const all = ' \n9007199254740993 | {"a":{"b":[1, 9007199254740993 ]}} | {"a":\t9007199254740993\n}'.split(
      "|",
    );
    for (const text of all) expect(writeJson(parseJson(text))).toContain("9007199254740993");
    for (const text of [
      "9007199254740993",
      "-9007199254740993",
      "[9007199254740993]",
      '{"a":9007199254740993}',
    ])
      expect(writeJson(parseJson(text))).toBe(text);
    const text = String.raw`["9007199254740993","a:9007199254740993","\",9007199254740993","[9007199254740993"]`;
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it("is data with any field names", () => {
    const text = '{"__proto__":9007199254740993,"1":9007199254740993,"constructor":9007199254740993}';
    expect(Object.entries(parseJson(text) as object)).toHaveLength(3);
    expect(Object.getPrototypeOf(parseJson(text))).toBe(Object.prototype);
  });

  it("is written with BigInts, and a BigInt of more than 64 bits is refused by name", () => {
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

  it("that is incomplete, or has an integer in a wrong position, is refused", () => {
    const wrong = [
      '{"a":9007199254740993',
      "{9007199254740993:1}",
      "{9007199254740993 :1}",
      "[09007199254740993]",
    ];
    const more = [
      "[9007199254740993x]",
      '"a"9007199254740993',
      '9007199254740993"a"',
      "[--9007199254740993]",
      '"9007199254740993',
    ];
    for (const text of [
      ...wrong,
      ...more,
      "[+9007199254740993]",
      "[9007199254740993\u00a0]",
      "[9007199254740993 1]",
    ])
      expect(() => parseJson(text), text).toThrow(messageOf(text));
  });

  it("has a double for an integer of any length", () => {
    const digits = "9".repeat(2 ** 20);
    expect(parseJson(`[${digits},-${digits},12345678901234567890]`)).toEqual([
      Infinity,
      -Infinity,
      12345678901234567890,
    ]);
  });

  it("is parsed as deep as by JSON.parse, and written as deep as by JSON.stringify", () => {
    // An API server accepts objects that are 9,900 deep.
    const deep = (levels: number): string => `${"[".repeat(levels)}9007199254740993${"]".repeat(levels)}`;
    expect(() => parseJson(deep(100_000))).not.toThrow();
    expect(() => JSON.stringify(JSON.parse(deep(4_000)))).not.toThrow();
    expect(writeJson(parseJson(deep(4_000)))).toBe(deep(4_000));
  });

  it("may have dates, raw JSON, and the same value twice", () => {
    const shared = { n: 2n ** 53n + 1n };
    expect(writeJson([shared, shared, new Date(0), { toJSON: () => 7 }, JSON.rawJSON("1.0"), 1n])).toBe(
      '[{"n":9007199254740993},{"n":9007199254740993},"1970-01-01T00:00:00.000Z",7,1.0,1]',
    );
    expect(writeJson(JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":2}}'))).toBe(
      '{"__proto__":{"a":1},"b":{"__proto__":2}}',
    );
    expect(writeJson(parseJson('{"__proto__":{"a":9007199254740993},"b":1}'))).toBe(
      '{"__proto__":{"a":9007199254740993},"b":1}',
    );
    expect(shared).toEqual({ n: 2n ** 53n + 1n });
  });
});

it("YAML has the same integers", () => {
  const read = (text: string): unknown => parse(text, exactYaml.reviver, exactYaml.options);
  expect(read("{a: 1, b: -9007199254740993, c: [0x20000000000001], d: 1.5, e: '9007199254740993'}")).toEqual({
    a: 1,
    b: -9007199254740993n,
    c: [9007199254740993n],
    d: 1.5,
    e: "9007199254740993",
  });
  expect(read("a: 18446744073709551616")).toEqual({ a: 2 ** 64 });
  expect(exactInteger(-(2n ** 53n))).toBe(-(2n ** 53n));
});
