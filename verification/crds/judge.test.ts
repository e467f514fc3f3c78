import { expect, it } from "vitest";
import { notChecked } from "../../packages/sandbox/conformance/not-checked.ts";
import type { Run } from "../../packages/sandbox/conformance/run-case.ts";
import type { Json } from "../../packages/sandbox/src/json.ts";
import { judged } from "./judge.ts";

const cause = (message: string, reason = "FieldValueInvalid", field = "spec"): Json => ({
  reason,
  message,
  field,
});
const ofFormat = cause(
  'Invalid value: "x": spec.a in body must be of type email: "x"',
  "FieldValueTypeInvalid",
);
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
  const { compared, differing, unchecked } = judged(real, sandbox);
  return { compared, differing: [...differing.keys()], unchecked: [...unchecked.keys()] };
};

it.each([
  ["what is the same", run(fine), run(fine), { compared: 1, differing: [], unchecked: [] }],
  [
    "what only an unchecked format refuses",
    run(refused(ofFormat)),
    run(fine),
    { compared: 0, differing: [], unchecked: [0] },
  ],
  [
    "an unchecked refusal that is refused for another reason",
    run(refused(ofFormat)),
    run(refused(other)),
    { compared: 1, differing: [0], unchecked: [] },
  ],
  [
    "what an unchecked and another reason refuse",
    run(refused(ofFormat, other)),
    run(refused(other)),
    { compared: 1, differing: [], unchecked: [] },
  ],
  [
    "the same, where the other reason is missed",
    run(refused(ofFormat, other)),
    run(fine),
    { compared: 1, differing: [0], unchecked: [] },
  ],
  [
    "a refusal for a checked reason",
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
    run(refused(ofFormat), fine),
    run(fine, refused(other)),
    { compared: 0, differing: [], unchecked: [0] },
  ],
  [
    "an object of a rule with a missing function",
    run(fine, fine),
    run({ ...fine, code: 501 }, fine),
    { compared: 0, differing: [], unchecked: [0] },
  ],
  [
    "what follows a dry run",
    run(fine, refused(ofFormat), refused(other)),
    run(fine, fine, fine),
    { compared: 2, differing: [2], unchecked: [1] },
  ],
])("%s", (_, real, sandbox, expected) => {
  expect(outcome(real, sandbox)).toEqual(expected);
});

it("a cause is unchecked for its own reason only", () => {
  const isUnchecked = (one: Json): boolean => notChecked.some(({ isCause }) => isCause?.(one));
  expect(isUnchecked(ofFormat)).toBe(true);
  expect(isUnchecked(cause("Invalid value: 5: spec.a in body should be at least 6"))).toBe(false);
  expect(isUnchecked(cause("Invalid value: failed rule: self.a < self.b"))).toBe(false);
});
