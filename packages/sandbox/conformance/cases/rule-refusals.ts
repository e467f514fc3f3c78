// Rules that a server refuses when a definition with them is written, and rules that only look wrong. Rules with wrong types
// are missing here: the sandbox refuses the writes that evaluate them (conformance/not-checked.ts).
import type { JsonObject } from "../../src/json.ts";
import { definitions } from "../fixtures.ts";
import { keyedBy, list, mapOf, set, struct, whole } from "../schemas.ts";
import { caseOf, post } from "../steps.ts";
import type { Case } from "../steps.ts";
import { thingsWith } from "../things.ts";
import { few, rules, short, withRules as of } from "./rules.ts";

const paths = [
  ".i",
  "i",
  ".b",
  ".o.x",
  ".o['x']",
  ".m.x",
  ".m['x']",
  ".k[0]",
  ".k",
  " ",
  ".",
  ".a.b",
  "['i']",
];
const given: readonly (string | JsonObject)[] = [
  ...["self.a ==", "if (true)", "(true ? self.i : 1) > 0", "has(self.a)", "self.?i.orValue(1) == 1"],
  ...["self.i > 1.5", "true", "self == self", "self.k.exists(x, x.name == 'a')"],
  { rule: "true", messageExpression: "1 +" },
  { rule: "true", messageExpression: "self.a" },
  { rule: "true", optionalOldSelf: true },
  { rule: "true", optionalOldSelf: false },
  { rule: "oldSelf.hasValue()", optionalOldSelf: true },
  { rule: "oldSelf.?i.orValue(1) == 1", optionalOldSelf: true },
  ...[...paths, ".o."].map((fieldPath) => ({ rule: "true", fieldPath })),
];
const every: JsonObject = {
  a: short,
  i: whole,
  o: struct({ x: whole }),
  m: mapOf(whole, { maxProperties: 3 }),
  k: keyedBy(struct({ name: short }, { required: ["name"] }), "name"),
};
const dry = `${definitions}?dryRun=All`;
export const ruleRefusals: readonly Case[] = [
  ...given.map((one) =>
    caseOf(
      `refused: ${typeof one === "string" ? one : JSON.stringify(one)}`,
      post(dry, thingsWith(of(every, rules(one)))),
    ),
  ),
  ...[
    list({ ...whole, ...rules("self > oldSelf") }, few),
    { ...set({ ...short, ...rules("self == oldSelf") }), ...few },
    mapOf({ ...whole, ...rules("self > oldSelf") }, { maxProperties: 3 }),
    list(struct({ a: { ...whole, ...rules({ rule: "oldSelf.hasValue()", optionalOldSelf: true }) } }), few),
  ].map((a, i) => caseOf(`refused: oldSelf in a list, ${i}`, post(dry, thingsWith(of({ a }))))),
];
