import { expect, it } from "vitest";
import {
  type Access,
  accessCount,
  accessesOf,
  isGranted,
  type PolicyRule,
  resourceAttributesOf,
} from "./access.ts";

const rule = (more: Partial<PolicyRule>): PolicyRule => ({
  apiGroups: [""],
  resources: ["pods"],
  verbs: ["get"],
  ...more,
});
const ask = (more: Partial<Access> = {}): Access => ({
  verb: "get",
  group: "",
  resource: "pods",
  namespace: "a",
  ...more,
});
const allows = (rules: readonly PolicyRule[], request: Access, namespace?: string) =>
  isGranted(request, accessesOf(rules, namespace));

const everyScale = rule({ resources: ["*/scale"] });

it.each<[string, PolicyRule, Partial<Access>, boolean]>([
  ["its own access", rule({}), {}, true],
  ["another verb", rule({}), { verb: "list" }, false],
  ["another group", rule({}), { group: "apps" }, false],
  ["another resource", rule({}), { resource: "secrets" }, false],
  ["any verb by *", rule({ verbs: ["*"] }), { verb: "delete" }, true],
  ["any group by *", rule({ apiGroups: ["*"] }), { group: "apps" }, true],
  [
    "any resource by *, with all below",
    rule({ resources: ["*"] }),
    { resource: "x", subresource: "y" },
    true,
  ],
  ["a subresource by its own name", rule({ resources: ["pods/log"] }), { subresource: "log" }, true],
  ["the resource of a subresource", rule({ resources: ["pods/log"] }), {}, false],
  ["a subresource of a resource", rule({}), { subresource: "log" }, false],
  ["a subresource of every resource", everyScale, { subresource: "scale" }, true],
  ["another subresource of every resource", everyScale, { subresource: "status" }, false],
  ["one of its names", rule({ resourceNames: ["x", "y"] }), { name: "y" }, true],
  ["another name", rule({ resourceNames: ["x"] }), { name: "z" }, false],
  ["no name, if it has names", rule({ resourceNames: ["x"] }), {}, false],
  ["no name, if it has the empty name", rule({ resourceNames: [""] }), {}, true],
  ["any name, if it has none", rule({ resourceNames: [] }), { name: "z" }, true],
  ["the second of its verbs", rule({ verbs: ["get", "list"] }), { verb: "list" }, true],
])("a rule allows or refuses %s", (_what, one, request, allowed) => {
  expect(allows([one], ask(request))).toBe(allowed);
});

it("a Role's rules apply in its namespace, and not to all namespaces", () => {
  expect(allows([rule({})], ask(), "a")).toBe(true);
  expect(allows([rule({})], ask(), "b")).toBe(false);
  expect(allows([rule({})], ask({ namespace: undefined }), "a")).toBe(false);
  expect(allows([rule({})], ask({ namespace: undefined }))).toBe(true);
});

it("an access to every name is reviewed with a name that is in no rule", () => {
  const { name } = resourceAttributesOf(ask());
  expect(name).toMatch(/^any-[-0-9a-f]{36}$/);
  expect(resourceAttributesOf(ask({ name: "x" })).name).toBe("x");
  expect(resourceAttributesOf(ask({ name: "" })).name).toBe("");
});

it("the count of accesses is that of their list, for each rule separately", () => {
  const rules = [
    rule({ resources: ["pods", "secrets"], verbs: ["get", "list", "watch"] }),
    rule({ resourceNames: ["x", "y"] }),
    rule({ apiGroups: [] }),
    rule({ resources: undefined }),
  ];
  expect(accessCount(rules)).toBe(8);
  expect(accessesOf(rules)).toHaveLength(8);
  expect(accessesOf([rule({}), rule({})])).toHaveLength(1);
});
