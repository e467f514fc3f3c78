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
const composite = { controller: "Composite", sync: "/sync" };
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
  [
    "hooks of Metacontroller",
    {
      owns,
      webhook: {
        metacontroller: { ...composite, customize: "/c", updates: [{ kind: "Cup", method: "InPlace" }] },
      },
      ...related("", "secrets", { code: true }),
    },
  ],
  [
    "hooks of Metacontroller without attachments",
    { webhook: { metacontroller: { ...composite, controller: "Decorator" } } },
  ],
  [
    "hooks of Metacontroller over https",
    { owns, webhook: { url: "https://a.example", metacontroller: composite } },
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
  ["hooks and children", { owns, webhook: { ...composes, metacontroller: composite } }, /leave out composes/],
  [
    "hooks and finalizes",
    { owns, webhook: { finalizes: true, metacontroller: composite } },
    /leave out composes/,
  ],
  [
    "hooks and a path",
    { owns, webhook: { path: "/x", metacontroller: composite } },
    /^spec\.webhook\.path: leave it out/,
  ],
  [
    "hooks over http",
    { owns, webhook: { url: "http://a.example", metacontroller: composite } },
    /^spec\.webhook\.url: .* not signed\. Give an https URL/,
  ],
  ["hooks without children", { webhook: { metacontroller: composite } }, /list the kinds of the children/],
  [
    "a customize hook without kinds",
    { owns, webhook: { metacontroller: { ...composite, customize: "/c" } } },
    /customize: list the kinds that it may name/,
  ],
  [
    "names in code without a customize hook",
    { owns, webhook: { metacontroller: composite }, ...related("", "pods", { code: true }) },
    /^spec\.watches: .* names\.code/,
  ],
  [
    "objects that code names and the hook does not get",
    {
      owns,
      webhook: { metacontroller: { ...composite, customize: "/c" } },
      watches: [kind("", "pods", { names: { code: true } })],
    },
    /^spec\.watches: .* names\.code/,
  ],
  [
    "an update of a kind that it does not own",
    { owns, webhook: { metacontroller: { ...composite, updates: [{ kind: "Pot", method: "InPlace" }] } } },
    /updates: Pot is not in spec\.owns/,
  ],
  [
    "an update of a kind of another group",
    {
      owns,
      webhook: {
        metacontroller: { ...composite, updates: [{ group: "apps", kind: "Cup", method: "InPlace" }] },
      },
    },
    /updates: Cup is not in spec\.owns/,
  ],
])("a function cannot be called for %s", (_, spec, message) => {
  expect(problem(spec)).toMatch(message);
});
