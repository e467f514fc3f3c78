import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { expect, test } from "vitest";
import { kubeObjectSchema } from "./kube-object.ts";
import { bucketObject } from "../testing/objects.ts";
import { isWellFormed } from "./well-formed.ts";

const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u", controller: true };
/** JSON of an object with every field. */
const full = JSON.stringify({
  ...bucketObject("a", {
    generation: 1,
    creationTimestamp: "2026-01-01T00:00:00Z",
    deletionTimestamp: "2026-01-01T00:00:00Z",
    finalizers: ["one", "two"],
    labels: { a: "b", c: "" },
    annotations: { a: "b" },
    ownerReferences: [{ ...owner, blockOwnerDeletion: false }, owner],
    managedFields: [{ manager: "m", fieldsV1: { "f:spec": {} } }],
  }),
  spec: { region: "eu", none: null },
});
const odd = [`null`, `""`, `0`, `1e999`, `true`, `[]`, `{}`, `"text"`, `["text"]`, `[null]`, `{"a":1}`];
/** Every value in the text. */
const values = [...full.matchAll(/(?<=[:[,])("[^"]*"|\d+|true|false|null|\{\}|\[\])(?=[,}\]])/g)];
const names = [...full.matchAll(/"[^"]*"(?=:)/g)];

/** The object with a few wrong values, missing fields, and names with a meaning in JavaScript. */
function spoiled(random: PseudoRandom): unknown {
  const pick = <T>(of: readonly T[]): T | undefined => of[random.below(of.length)];
  let text = full;
  for (let left = random.below(3); left > 0; left--) {
    const [from, to] = random.chance(0.7)
      ? [pick(values)?.[0], pick(odd)]
      : [pick(names)?.[0], pick([`"__proto__"`, `"x"`, `"toString"`, `"labels"`])];
    const places = [...text.matchAll(new RegExp(RegExp.escape(from ?? ""), "g"))];
    const at = pick(places)?.index ?? 0;
    text = text.slice(0, at) + (to ?? "") + text.slice(at + (from ?? "").length);
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

test("a well-formed object is unchanged by the schema", () => {
  const random = pseudoRandom(1);
  const found = { yes: 0, no: 0 };
  for (let round = 0; round < 20_000; round++) {
    const value = spoiled(random);
    const isQuick = isWellFormed(value);
    found[isQuick ? "yes" : "no"]++;
    if (!isQuick) continue;
    expect(kubeObjectSchema.parse(value)).toStrictEqual(value);
  }
  expect(Math.min(found.yes, found.no)).toBeGreaterThan(3_000);
});

test("an object of the API server is well-formed", () => {
  expect(isWellFormed(JSON.parse(full))).toBe(true);
  expect(isWellFormed(bucketObject("a"))).toBe(true);
});

test.each([
  ["an empty uid", { uid: "" }],
  ["null for an absent field", { creationTimestamp: null }],
  ["null for an unused field", { selfLink: null }],
  ["a label that is not a string", { labels: { a: 1 } }],
  ["an owner without uid", { ownerReferences: [{ ...owner, uid: undefined }] }],
  ["an infinite generation", { generation: Infinity }],
])("is left to the schema: %s", (_what, metadata) => {
  expect(isWellFormed(bucketObject("a", metadata))).toBe(false);
});
