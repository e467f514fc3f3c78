import { describe, expect, test } from "vitest";
import { InvalidFieldPathError, isInMetadata, parseFieldPath, valuesAt } from "./field-path.ts";

const object = {
  metadata: { labels: { "app.kubernetes.io/name": "a" } },
  spec: {
    size: 0,
    off: false,
    text: "",
    none: null,
    volumes: [{ secret: { name: "s" } }, {}, { secret: { name: "t" } }],
  },
};
const at = (path: string) => valuesAt(object, parseFieldPath(path));

describe("a field path", () => {
  test("finds a value, each item of a list, and nothing if a part of the path is missing", () => {
    expect(at("spec.size")).toEqual([0]);
    expect(at("spec.volumes[].secret.name")).toEqual(["s", "t"]);
    expect(at('metadata.labels["app.kubernetes.io/name"]')).toEqual(["a"]);
    expect([at("spec.off"), at("spec.text")]).toEqual([[false], [""]]);
    expect(at("spec.none")).toEqual([]);
    expect(at("spec.size[].x")).toEqual([]);
    expect(at("spec.constructor.name")).toEqual([]);
    expect(at("spec.__proto__")).toEqual([]);
  });

  test.each(["", ".spec", "spec..a", "spec.a b", "[]", "spec[0]", 'spec["a', "$(rm)"])(
    "that is invalid is refused: %j",
    (text) => {
      expect(() => parseFieldPath(text)).toThrow(InvalidFieldPathError);
    },
  );

  test("is in the metadata, or not", () => {
    expect(isInMetadata(parseFieldPath("metadata.generation"))).toBe(true);
    expect(isInMetadata(parseFieldPath("spec.size"))).toBe(false);
    expect(isInMetadata(parseFieldPath("spec.template.metadata.labels"))).toBe(false);
  });
});
