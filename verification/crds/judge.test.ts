import { expect, it } from "vitest";
import { notChecked } from "../../packages/sandbox/conformance/not-checked.ts";
import { ofSpec } from "../../packages/sandbox/conformance/schemas.ts";
import { thingsWith } from "../../packages/sandbox/conformance/things.ts";
import type { Run } from "../../packages/sandbox/conformance/run-case.ts";
import type { Json } from "../../packages/sandbox/src/json.ts";
import { judged } from "./judge.ts";

const rule = { rule: "self.a < self.b", message: "a is below b" };
const definition = thingsWith(ofSpec({}, { "x-kubernetes-validations": [rule] }));
const cause = (message: string, reason = "FieldValueInvalid", field = "spec"): Json => ({
  reason,
  message,
  field,
});
const ofRule = cause(`Invalid value: {}: ${rule.message}`);
const other = cause("Required value", "FieldValueRequired", "spec.a");
const refused = (...causes: readonly Json[]) => ({
  code: 422,
  headers: { warning: [] },
  body: { message: JSON.stringify(causes), details: { causes } },
});
const fine = { code: 201, headers: { warning: [] }, body: { spec: {} } };

const run = (...answers: readonly Run["answers"][number][]): Run => ({
  asked: answers.map((_, i) => ({
    method: "POST",
    path: i === 0 ? "/x" : "/x?dryRun=All",
    headers: {},
    body: "",
  })),
  answers,
});
const outcome = (real: Run, sandbox: Run) => {
  const { compared, differing, unchecked } = judged(real, sandbox, definition);
  return { compared, differing: [...differing.keys()], unchecked: [...unchecked.keys()] };
};

it.each([
  ["what is the same", run(fine), run(fine), { compared: 1, differing: [], unchecked: [] }],
  [
    "what only a rule refuses",
    run(refused(ofRule)),
    run(fine),
    { compared: 0, differing: [], unchecked: [0] },
  ],
  [
    "a rule's refusal that is refused for another reason",
    run(refused(ofRule)),
    run(refused(other)),
    { compared: 1, differing: [0], unchecked: [] },
  ],
  [
    "what a rule and another reason refuse",
    run(refused(ofRule, other)),
    run(refused(other)),
    { compared: 1, differing: [], unchecked: [] },
  ],
  [
    "the same, where the other reason is missed",
    run(refused(ofRule, other)),
    run(fine),
    { compared: 1, differing: [0], unchecked: [] },
  ],
  [
    "a refusal that no rule made",
    run(refused(other)),
    run(fine),
    { compared: 1, differing: [0], unchecked: [] },
  ],
  [
    "a refusal of what is taken",
    run(fine),
    run(refused(other)),
    { compared: 1, differing: [0], unchecked: [] },
  ],
  [
    "what follows what only one of the two has",
    run(refused(ofRule), fine),
    run(fine, refused(other)),
    { compared: 0, differing: [], unchecked: [0] },
  ],
  [
    "what follows a dry run",
    run(fine, refused(ofRule), refused(other)),
    run(fine, fine, fine),
    { compared: 2, differing: [2], unchecked: [1] },
  ],
])("%s", (_, real, sandbox, expected) => {
  expect(outcome(real, sandbox)).toEqual(expected);
});

it("a cause is a rule's where the definition has the rule, and not because it is invalid", () => {
  const isRule = (one: Json, of: Json): boolean => notChecked.some(({ isCause }) => isCause?.(one, of));
  expect(isRule(ofRule, definition)).toBe(true);
  expect(isRule(ofRule, {})).toBe(false);
  expect(isRule(cause("Invalid value: 5: spec.a in body should be at least 6"), definition)).toBe(false);
  expect(isRule(cause(`Unsupported value: ${rule.message}`, "FieldValueNotSupported"), definition)).toBe(
    false,
  );
});
