import { expect, it } from "vitest";
import { calledRoleNames, gatewayRoles } from "./gateway-roles.ts";
import { cup, cupSpec, environment, functionRef } from "../testing/cups.ts";

const { gateway } = environment;
const rolesOf = (webhook?: object, namespaces?: readonly string[]) =>
  gatewayRoles(
    functionRef,
    cupSpec({
      for: { ...cup, ...(namespaces && { namespaces }) },
      delivery: "webhook",
      ...(webhook && { webhook }),
    }),
    gateway,
  );
const words = (one: ReturnType<typeof rolesOf>[number]) =>
  [one.ref.kind, one.object.metadata.namespace, one.object.metadata.name].filter(Boolean).join(" ");

it.each([
  ["that it is given", { service: { name: "teapot" } }, "teapot"],
  ["of its own Pods", undefined, "cups"],
])(
  "the gateway acts as the function, reads its secret and looks up the Service %s, and may do no more",
  (_, webhook, service) => {
    const role = rolesOf(webhook).find((one) => words(one) === "Role tea cups-gateway");
    const may = (verb: string, resource: string, name: string) => ({
      apiGroups: [""],
      resources: [resource],
      resourceNames: [name],
      verbs: [verb],
    });
    expect(role?.object["rules"]).toEqual([
      may("impersonate", "serviceaccounts", "cups"),
      may("get", "secrets", "cups-webhook"),
      may("get", "services", service),
    ]);
    const binding = rolesOf(webhook).find((one) => words(one) === "RoleBinding tea cups-gateway");
    expect(binding?.object["subjects"]).toEqual([{ kind: "ServiceAccount", ...gateway }]);
    expect([role?.wanted, binding?.wanted]).toEqual([true, true]);
  },
);

it("the function's own account has what a call takes, where its objects are", () => {
  for (const [namespaces, expected] of [
    [undefined, ["ClusterRole drover-called:tea:cups", "ClusterRoleBinding drover-called:tea:cups"]],
    [["milk"], ["Role milk drover-called:tea:cups", "RoleBinding milk drover-called:tea:cups"]],
  ] as const) {
    const wanted = rolesOf(undefined, namespaces).filter((one) => one.wanted && one.reviewed !== false);
    expect(wanted.map(words)).toEqual(expected);
    expect(wanted[1]?.object["subjects"]).toEqual([
      { kind: "ServiceAccount", namespace: "tea", name: "cups" },
    ]);
  }
});

it("the account of a function that composes may make children, where the owned kind or its parents are", () => {
  const page = {
    group: "",
    version: "v1",
    kind: "ConfigMap",
    plural: "configmaps",
    scope: "Namespaced",
  } as const;
  const rolesFor = (webhook: object, namespaces: readonly string[] | undefined, own?: readonly string[]) => {
    const spec = cupSpec({
      for: { ...cup, ...(namespaces && { namespaces }) },
      owns: [{ ...page, ...(own && { namespaces: own }) }],
      delivery: "webhook",
      webhook,
    });
    return gatewayRoles(functionRef, spec, gateway)
      .filter((one) => one.wanted && one.ref.kind.endsWith("Role") && one.reviewed !== false)
      .map((one) => [words(one), JSON.stringify(one.object["rules"]).includes("configmaps")]);
  };
  const name = "drover-called:tea:cups";
  expect(rolesFor({}, undefined)).toEqual([[`ClusterRole ${name}`, false]]);
  expect(rolesFor({ composes: true }, undefined)).toEqual([[`ClusterRole ${name}`, true]]);
  expect(rolesFor({ composes: true }, ["milk"])).toEqual([[`Role milk ${name}`, true]]);
  expect(rolesFor({ composes: true }, ["milk"], ["pages"])).toEqual([
    [`Role milk ${name}`, false],
    [`Role pages ${name}`, true],
  ]);
  const [role] = gatewayRoles(
    functionRef,
    cupSpec({ owns: [page], delivery: "webhook", webhook: { composes: true } }),
    gateway,
  );
  expect(role?.object["rules"]).toContainEqual({
    apiGroups: [""],
    resources: ["configmaps"],
    verbs: ["get", "list", "create", "patch", "delete"],
  });
});

it("all of them are among the names by which they are taken away", () => {
  const names = [undefined, ["milk", "tea"]].flatMap((some) =>
    rolesOf(undefined, some).map(({ object }) => object.metadata.name),
  );
  expect(new Set(calledRoleNames(functionRef))).toEqual(new Set(names));
});
