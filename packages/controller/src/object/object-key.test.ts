import { describe, expect, it } from "vitest";
import { InvalidKeyError, objectKey, parseObjectKey, splitObjectKey } from "./object-key.ts";

describe("an object key", () => {
  it.each([
    "web",
    "system:node:a",
    "{braces}",
    "a%2Fb",
    "__proto__",
    "constructor",
    "...",
    "аdmin", // the first letter is Cyrillic
    "ａ",
    "😀",
    "n".repeat(253),
  ])("of the name %j is parsed as it was formatted", (name) => {
    for (const object of [{ name }, { namespace: "default", name }]) {
      const key = objectKey(object);
      expect(splitObjectKey(key)).toEqual(object);
      expect(parseObjectKey(key)).toBe(key);
      expect(splitObjectKey(parseObjectKey(JSON.parse(JSON.stringify(key)) as string))).toEqual(object);
    }
  });

  it("is different for similar characters", () => {
    expect(objectKey({ name: "аdmin" })).not.toBe(objectKey({ name: "admin" }));
    expect(objectKey({ namespace: "a", name: "b" })).not.toBe(objectKey({ name: "b" }));
  });

  it("is unchanged by the UTF-8 of Redis", () => {
    const key = objectKey({ namespace: "ä", name: "😀:{}%" });
    expect(Buffer.from(key, "utf8").toString("utf8")).toBe(key);
  });

  it.each([
    [{ name: "" }, "the name is empty"],
    [{ namespace: "", name: "a" }, "the namespace is empty"],
    [{ name: "a/b" }, 'has a "/"'],
    [{ namespace: "a/b", name: "c" }, 'has a "/"'],
    [{ name: "a b" }, "a blank"],
    [{ name: "a\n" }, "a control character"],
    [{ name: "a\u0000" }, "a control character"],
    [{ name: "a\u009b31m" }, "a control character"],
    [{ name: "\ud800" }, "a control character"],
    [{ namespace: "default", name: ".." }, 'the name must not be ".."'],
    [{ namespace: ".", name: "a" }, 'the namespace must not be "."'],
    [{ name: "n".repeat(254) }, "Kubernetes allows 253"],
    [{ namespace: "n".repeat(64), name: "a" }, "Kubernetes allows 63"],
  ])("of %j is refused: %s", (object, reason) => {
    expect(() => objectKey(object)).toThrow(InvalidKeyError);
    expect(() => objectKey(object)).toThrow(reason);
    expect(() => objectKey(object)).toThrow('Give "namespace/name"');
  });

  it.each(["", "/", "a/", "/a", "a/b/c", "../b", " a"])("is not parsed from the text %j", (text) => {
    expect(() => parseObjectKey(text)).toThrow(InvalidKeyError);
  });

  it("is refused with a short message for any length", () => {
    expect(() => parseObjectKey(`${"a".repeat(1_000_000)}/b/c`)).toThrow(/^.{0,200}$/);
  });
});
