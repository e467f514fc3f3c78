import { expect, it } from "vitest";
import { ReconcileFunction } from "./reconcile-function.ts";
import { webhookProblem } from "./webhook-problem.ts";

const kind = (group: string, plural: string, more: object = {}) => ({
  group,
  version: "v1",
  kind: "Cup",
  plural,
  scope: "Namespaced",
  ...more,
});
const problem = (spec: object): string | undefined =>
  webhookProblem(
    ReconcileFunction.spec.parse({ for: kind("example.com", "cups"), delivery: "webhook", ...spec }),
  );
const owns = [kind("", "configmaps")];
const composes = { composes: true };
const related = (group: string, plural: string, names: object = { all: true }) => ({
  watches: [kind(group, plural, { names, related: true })],
});

it.each<[string, object]>([
  ["a kind of its own", {}],
  ["children", { owns, webhook: composes }],
  ["related objects", { owns, webhook: composes, ...related("", "secrets") }],
  [
    "Secrets that are sent over https",
    { owns, webhook: { ...composes, url: "https://a.example" }, ...related("", "secrets") },
  ],
  [
    "other objects that are sent over http",
    { owns, webhook: { ...composes, url: "http://a.example" }, ...related("example.com", "secrets") },
  ],
  ["a kind that it only watches", { watches: [kind("", "secrets", { names: { all: true } })] }],
])("a function may be called for %s", (_, spec) => {
  expect(problem(spec)).toBeUndefined();
});

it.each<[string, object, RegExp]>([
  ["Secrets", { for: kind("", "secrets") }, /^spec\.for: Secrets are never sent/],
  [
    "names in code",
    { watches: [kind("", "pods", { names: { code: true } })] },
    /^spec\.watches: .* names\.code/,
  ],
  [
    "related objects that code names",
    { owns, webhook: composes, ...related("", "pods", { code: true }) },
    /^spec\.watches: .* names\.code/,
  ],
  ["children of no kind", { webhook: composes }, /^spec\.webhook\.composes: list the kinds/],
  ["related objects without children", related("", "pods"), /^spec\.watches: .* Set spec\.webhook\.composes/],
  [
    "Secrets that would be sent over http",
    { owns, webhook: { ...composes, url: "http://a.example" }, ...related("", "secrets") },
    /^spec\.webhook\.url: Secrets are not sent over http\. Give an https URL/,
  ],
])("a function cannot be called for %s", (_, spec, message) => {
  expect(problem(spec)).toMatch(message);
});
