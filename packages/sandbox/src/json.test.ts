import { describe, expect, it } from "vitest";
import { equal, field, parseJson, present, withField } from "./json.ts";

describe("JSON values", () => {
  it("are read by their own keys only", () => {
    expect(field({}, "constructor")).toBeUndefined();
    expect(field({ a: { b: [1] } }, "a", "b", "length")).toBeUndefined();
    expect(field(parseJson('{"__proto__":1}'), "__proto__")).toBe(1);
  });

  it("take any key as data", () => {
    const made = withField({ a: 1 }, "__proto__", { b: 2 });
    expect(Object.keys(made)).toEqual(["a", "__proto__"]);
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect(JSON.stringify(withField(made, "__proto__", undefined))).toBe('{"a":1}');
  });

  it("are equal whatever the order of their keys", () => {
    expect(equal({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
    expect(equal({ a: 1 }, { a: 1, b: null })).toBe(false);
    expect(equal([1, 2], [2, 1])).toBe(false);
    expect(equal({}, [])).toBe(false);
  });

  it("leave out what is not there", () => {
    expect(present({ a: 1, b: undefined, c: null })).toEqual({ a: 1, c: null });
  });

  it("nest to a limit", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(parseJson(nested(500))).toBeDefined();
    expect(() => parseJson(nested(600))).toThrow("exceeded max depth");
  });
});
