import { customResourceDefinition, ReconcileFunction } from "@drover/controller";
import { builtin, installCrd, kindOf, type KubeObject, refOf } from "@drover/kube";
import { beforeAll, expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { plainKind } from "../testing/plain-kind.ts";
import { describeChild } from "./describe-child.ts";

const cup = plainKind({ group: "tea.example.com", kind: "Cup" });
const otherCup = plainKind({ group: "coffee.example.com", kind: "Cup" });
const { client } = await sandboxOfFile({ kinds: [cup, otherCup] });
let parent: KubeObject;
beforeAll(async () => {
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
  const spec = { for: kindOf(refOf(cup)), owns: [kindOf(builtin.configMap), kindOf(builtin.node)] };
  await client.create(refOf(ReconcileFunction), { metadata: { name: "cups", namespace: "default" }, spec });
  parent = await client.create(refOf(cup), { metadata: { name: "a", namespace: "default" }, spec: {} });
});

const wordsOf = (name: string, kind = "configmap") =>
  describeChild(client, { kind, name, namespace: "default", command: "why" });
const owned = (name: string, group: string, uid = parent.metadata.uid) =>
  client.create(builtin.configMap, {
    metadata: {
      name,
      namespace: "default",
      ownerReferences: [{ apiVersion: `${group}/v1`, kind: "Cup", name: "a", uid, controller: true }],
    },
  });

it("a child names its owner, the function, and the command that explains it", async () => {
  await owned("child", "tea.example.com");
  expect(await wordsOf("child")).toBe(
    "ConfigMap default/child is a child of Cup default/a, of the function default/cups. It has no Ready condition yet.\n\n" +
      "  More about it: drover why cups.tea.example.com default/a",
  );
  for (const kind of ["configmaps", "ConfigMap"])
    expect(await wordsOf("child", kind)).toBe(await wordsOf("child"));
  expect(await wordsOf("child", "secrets")).toBeUndefined();
  const condition = { type: "Ready", status: "False", reason: "ChildrenNotReady", message: "Wait." };
  const at = { lastTransitionTime: "2026-01-01T00:00:00Z" };
  await client.replace(
    refOf(cup),
    { ...parent, status: { conditions: [{ ...condition, ...at }] } },
    { subresource: "status" },
  );
  expect(await wordsOf("child")).toContain("Its Ready condition is False, ChildrenNotReady: Wait.");
});

it("an object of another owner is no child, also if its kind has the same name", async () => {
  await owned("other", "coffee.example.com");
  await client.create(builtin.configMap, { metadata: { name: "plain", namespace: "default" } });
  for (const name of ["other", "plain", "absent"]) expect(await wordsOf(name)).toBeUndefined();
});

it("a child without an owner reference is found by its annotation, in any namespace", async () => {
  const annotations = { "drover.dev/parent": "Cup.tea.example.com/default/gone" };
  await client.create(builtin.node, { metadata: { name: "far", annotations } });
  expect(await wordsOf("far", "node")).toMatch(
    /^Node far is a child of Cup default\/gone, .*That object does not exist/,
  );
});
