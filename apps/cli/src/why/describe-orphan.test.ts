import { customResourceDefinition, objectKey, ReconcileFunction } from "@drover/controller";
import { installCrd, kindOf, refOf } from "@drover/kube";
import { beforeAll, expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { plainKind } from "../testing/plain-kind.ts";
import { describeOrphan } from "./describe-orphan.ts";

const fork = plainKind({ group: "left.example.com", kind: "Fork" });
const otherFork = plainKind({ group: "kept.example.com", kind: "Fork" });
const table = plainKind({ group: "left.example.com", kind: "Table", scope: "Cluster" });
const { sandbox, client } = await sandboxOfFile({ kinds: [fork, otherFork, table] });
const finalizers = ["drover.dev/forks"];
beforeAll(async () => {
  for (const kind of [fork, otherFork])
    await client.create(refOf(kind), { metadata: { name: "a", namespace: "default", finalizers }, spec: {} });
  await client.create(refOf(table), { metadata: { name: "a", finalizers }, spec: {} });
});

const wordsOf = (kind: string) =>
  describeOrphan(client, { kind, name: "a", namespace: "default", command: "why" });

it("an object is an orphan in a cluster that knows no functions, Drover having been removed", async () => {
  expect(await wordsOf("forks.left.example.com")).toMatch(/^Fork default\/a will stay/);
});

it("only the kind is orphaned that no function is for, though another group has one of that name", async () => {
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
  for (const [name, kind] of Object.entries({ kept: otherFork, cups: plainKind({ kind: "Cup" }) })) {
    const spec = { for: kindOf(refOf(kind)) };
    await client.create(refOf(ReconcileFunction), { metadata: { name, namespace: "default" }, spec });
  }
  expect(await wordsOf("forks.kept.example.com")).toBeUndefined();
  expect(await wordsOf("forks.left.example.com")).toMatch(
    / -n default --type=merge -p '\{"metadata":\{"finalizers":\[\]\}\}'\n/,
  );
  expect(await wordsOf("fork")).toMatch(/no ReconcileFunction manages forks\.left\.example\.com\./);
});

it("an object of a kind that is in no namespace is found by its name alone", async () => {
  const words = await wordsOf("table");
  expect(words).toMatch(/^Table a will stay/);
  expect(words).toMatch(/ patch tables\.left\.example\.com a --type=merge /);
});

it("a user who may not list kinds gets the original error", async () => {
  const forbid = sandbox.faults.respond(({ path }) =>
    path.endsWith("/customresourcedefinitions") ? { status: 403 } : undefined,
  );
  const words = await wordsOf("table");
  forbid();
  expect(words).toBeUndefined();
});

it("an object without a finalizer of Drover is none", async () => {
  const metadata = { name: "a", finalizers: ["example.com/other"] };
  await client.patch(refOf(table), objectKey({ name: "a" }), { type: "merge", body: { metadata } });
  expect(await wordsOf("table")).toBeUndefined();
});
