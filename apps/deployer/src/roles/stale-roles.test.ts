import { objectKey, silentLog } from "@drover/controller";
import { builtin, listAll, type NewObject, type ResourceRef } from "@drover/kube";
import { expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { bridgeRoleName, bridgeRoles } from "./bridge-roles.ts";
import { ownedClusterMetadata } from "../function-ref.ts";
import { applyObject } from "../objects/apply-object.ts";
import { applyObjects } from "../objects/apply-objects.ts";
import { deleteStaleRoles } from "./stale-roles.ts";
import type { DeployRunContext } from "../run-context.ts";
import { cup, cupSpec, environment, functionRef } from "../testing/cups.ts";

const { client } = await sandboxOfFile({ namespaces: ["tea", "coffee", "milk"] });

const { signal } = new AbortController();

const rolesFor = (namespaces: readonly string[] | undefined, of = functionRef) =>
  bridgeRoles(of, cupSpec({ for: { ...cup, ...(namespaces && { namespaces }) } }), environment.bridge);
const keep = async (roles: ReturnType<typeof rolesFor>, of = functionRef) => {
  for (const { ref, object, wanted } of roles)
    if (wanted) await applyObject({ client, signal, owner: of }, ref, object);
};
const drop = (kept: ReturnType<typeof rolesFor>) =>
  deleteStaleRoles(
    { client, functionRef, context: { signal } as DeployRunContext["context"] },
    [bridgeRoleName(functionRef)],
    kept,
  );
const runContextAt = (generation: number, cleanedGenerations = new Map<string, number>()) => {
  const context = { signal, status: {}, metadata: { generation }, log: silentLog };
  return {
    client,
    functionRef,
    context: context as unknown as DeployRunContext["context"],
    cleanedGenerations,
  };
};
const there = async (): Promise<readonly string[]> => {
  const kinds: readonly ResourceRef[] = [builtin.clusterRole, builtin.role, builtin.roleBinding];
  const all = await Promise.all(
    kinds.map(async (ref) =>
      (await listAll(client, ref, {})).map(({ metadata: { namespace = "", name } }) =>
        [ref.kind, namespace, name].filter(Boolean).join(" "),
      ),
    ),
  );
  return all
    .flat()
    .filter((one) => one.includes("cups"))
    .sort();
};
const inside = (namespace: string, name = "drover-bridge:tea:cups") => [
  `Role ${namespace} ${name}`,
  `RoleBinding ${namespace} ${name}`,
];

it("the bridge's Roles are where the function looks now, and none is left when it is gone", async () => {
  await keep(rolesFor(["tea", "coffee"]));
  await keep(rolesFor(["milk"]));
  await drop(rolesFor(["milk"]));
  expect(await there()).toEqual(inside("milk"));

  await keep(rolesFor(undefined));
  await drop(rolesFor(undefined));
  expect(await there()).toEqual(["ClusterRole drover-bridge:tea:cups"]);
  await keep(rolesFor(["tea"]));
  await drop(rolesFor(["tea"]));
  expect(await there()).toEqual(inside("tea"));
  await drop([]);
  expect(await there()).toEqual([]);
});

it("another function's Roles stay, those that only look like this one's, and this one's of another name", async () => {
  const namesake = { ...functionRef, namespace: "coffee", uid: "2" };
  await keep(rolesFor(["tea"], namesake), namesake);
  const metadata = { name: "drover-bridge:tea:cups", labels: { "drover.dev/function": "cups" } };
  const foreign: NewObject = { metadata: { ...metadata, namespace: "milk" }, rules: [] };
  await client.create(builtin.role, foreign);
  await client.create(builtin.clusterRole, {
    metadata: ownedClusterMetadata(functionRef, "drover:tea:cups"),
    rules: [],
  });
  await drop([]);
  expect(await there()).toEqual([
    "ClusterRole drover:tea:cups",
    "Role milk drover-bridge:tea:cups",
    ...inside("tea", "drover-bridge:coffee:cups"),
  ]);
});

it("a namespace that is not there keeps rights from no other, and is looked for again", async () => {
  const runContext = runContextAt(1);
  const isIncomplete = (namespaces: readonly string[]) => applyObjects(runContext, rolesFor(namespaces));
  expect(await isIncomplete(["nowhere", "coffee", "gone", "tea"])).toBe(true);
  expect(await there()).toEqual(expect.arrayContaining([...inside("coffee"), ...inside("tea")]));
  expect(await isIncomplete(["coffee", "tea"])).toBe(false);
});

it("rights in a namespace that a function names no longer go with the next spec, in the same process", async () => {
  const cleanedGenerations = new Map<string, number>();
  const keepOf = (generation: number, namespaces: readonly string[]) =>
    applyObjects(runContextAt(generation, cleanedGenerations), rolesFor(namespaces));
  await keepOf(1, ["coffee", "tea"]);
  await keepOf(2, ["tea"]);
  const left = (await there()).filter((one) => one.endsWith("drover-bridge:tea:cups"));
  expect(left).toEqual(expect.arrayContaining(inside("tea")));
  expect(left).not.toEqual(expect.arrayContaining(inside("coffee").slice(0, 1)));
});

it("a name that another has taken in a namespace keeps rights from no other, and is tried again", async () => {
  const name = "drover-bridge:tea:cups";
  const at = objectKey({ namespace: "milk", name });
  await client.delete(builtin.role, at);
  await client.create(builtin.role, { metadata: { name, namespace: "milk" }, rules: [] });
  const runContext = runContextAt(7);
  expect(await applyObjects(runContext, rolesFor(["milk", "tea"]))).toBe(true);
  expect(await there()).toEqual(expect.arrayContaining(inside("tea")));
  expect((await client.get(builtin.role, at))?.["rules"] ?? null).toBeNull();
  await client.delete(builtin.role, at);
  expect(await applyObjects(runContext, rolesFor(["milk", "tea"]))).toBe(false);
});
