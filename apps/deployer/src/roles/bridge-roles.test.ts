import { type Access, describeAccess, bridgeAccess, ReconcileFunction } from "@drover/controller";
import { expect, it } from "vitest";
import { bridgeRoles } from "./bridge-roles.ts";
import { grantedAccess } from "../permits/granted-access.ts";
import { environment, functionRef } from "../testing/cups.ts";

const kind = (group: string, name: string) => ({
  group,
  version: "v1",
  kind: name,
  plural: `${name.toLowerCase()}s`,
  scope: "Namespaced",
});
const spec = ReconcileFunction.spec.parse({
  for: { ...kind("example.com", "Cup"), namespaces: ["tea", "coffee"] },
  owns: [kind("", "Secret")],
  watches: [{ ...kind("example.com", "Saucer"), names: { label: "example.com/cup" } }],
});

const { bridge: account } = environment;
const rolesOf = (of: typeof spec) =>
  bridgeRoles(functionRef, of, account)
    .filter(({ wanted }) => wanted)
    .map(({ ref, object }) => [ref.kind, object.metadata.namespace, object["rules"] ?? object["subjects"]]);
const rule = (group: string, ...resources: readonly string[]) => ({
  apiGroups: [group],
  resources,
  verbs: ["list", "watch"],
});

it("the bridge may list and watch each kind where the function looks, and nowhere else", () => {
  const here = [rule("example.com", "cups")];
  const subjects = [{ kind: "ServiceAccount", ...account }];
  expect(rolesOf(spec)).toEqual([
    ["ClusterRole", undefined, [rule("", "secrets"), rule("example.com", "saucers")]],
    ["Role", "coffee", here],
    ["RoleBinding", "coffee", subjects],
    ["Role", "tea", here],
    ["RoleBinding", "tea", subjects],
  ]);
  const local = ReconcileFunction.spec.parse({ for: { ...kind("example.com", "Cup"), namespaces: ["tea"] } });
  expect(rolesOf(local).map(([name]) => name)).toEqual(["Role", "RoleBinding"]);
});

it("what the reviews ask of the author is what the Roles grant", () => {
  const granted = grantedAccess(bridgeRoles(functionRef, spec, account));
  const words = (all: readonly Access[]) => all.map(describeAccess).sort();
  expect(words(granted)).toEqual(words(bridgeAccess(spec)));
});

it("the author must hold the bridge's rights, where the function looks", () => {
  expect(bridgeAccess(spec).map(describeAccess)).toEqual([
    "list cups of example.com in namespace tea",
    "watch cups of example.com in namespace tea",
    "list cups of example.com in namespace coffee",
    "watch cups of example.com in namespace coffee",
    "list secrets in all namespaces",
    "watch secrets in all namespaces",
    "list saucers of example.com in all namespaces",
    "watch saucers of example.com in all namespaces",
  ]);
});
