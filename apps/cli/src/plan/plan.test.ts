import {
  customResourceDefinition,
  defineResource,
  type DeployableFunction,
  objectKey,
  silentLog,
} from "@drover/controller";
import { connect, installCrd, refOf } from "@drover/kube";
import { reconcileOnce } from "@drover/runtime";
import { startSandbox } from "@drover/sandbox";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { repositoryPath } from "../package/repository-path.ts";
import { expectError, spawnDrover } from "../testing/run-command.ts";

const Cup = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Cup",
  scope: "Namespaced",
  spec: z.object({ tea: z.string(), saucers: z.int().default(1) }),
  status: z.object({ saucers: z.int() }),
});
const cupRef = refOf(Cup);
const keyOfCup = (name: string) => objectKey({ namespace: "default", name });
const secretText = "s3cr3t-tea";

/** A function for cups, with this definition of its controller. */
const moduleWith = (controller: string) => `
import { defineController, defineFunction, defineResource } from "@drover/controller";
import { composeController } from "@drover/compose";
import { builtin, kindOf } from "@drover/kube";
import { z } from "zod";
const Cup = defineResource({
  group: "example.com", version: "v1", kind: "Cup", scope: "Namespaced",
  spec: z.object({ tea: z.string(), saucers: z.int().default(1) }), status: z.object({ saucers: z.int() }),
});
const owns = [builtin.configMap, builtin.secret].map((ref) => ({ kind: kindOf(ref) }));
const configMap = { apiVersion: "v1", kind: "ConfigMap" };
const controller = ${controller};
export default defineFunction({ controller });
`;

/** A ConfigMap with the tea, a saucer each, and a Secret. */
const composed = (word: string, secret = secretText) =>
  moduleWith(`composeController({
  for: Cup, owns,
  compose: ({ metadata: { name }, spec }) => ({
    status: { saucers: spec.saucers },
    children: [
      { ...configMap, metadata: { name }, data: { tea: spec.tea, word: ${JSON.stringify(word)} } },
      ...Array.from({ length: spec.saucers }, (_, i) => ({ ...configMap, metadata: { name: name + "-" + i } })),
      { apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: { key: ${JSON.stringify(secret)} } },
    ],
  }),
})`);

/** A sandbox with cups, and a function's folder. */
async function openWorld() {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const cwd = folderOfTest();
  mkdirSync(join(cwd, "src"));
  writeFileSync(join(cwd, "package.json"), '{ "type": "module" }');
  symlinkSync(repositoryPath("node_modules"), join(cwd, "node_modules"));
  const kubeconfig = join(cwd, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  const client = await connect({ kubeconfig });
  onTestFinished(() => client.close());
  await installCrd(client, { ...customResourceDefinition(Cup) });
  const cup = (name: string, spec: object) =>
    client.create(cupRef, { metadata: { name, namespace: "default" }, spec });
  const write = (text: string, file = "src/function.ts"): void => writeFileSync(join(cwd, file), text);
  /** A run of the function as it is written now, in the cluster. */
  const run = async (name: string): Promise<void> => {
    const { default: fn } = (await import(`${join(cwd, "src/function.ts")}?${Math.random()}`)) as {
      default: DeployableFunction;
    };
    const options = { controller: fn.controller, client, announce: () => undefined, log: silentLog };
    const claim = { fails: 0, reasons: [], class: "change", versions: {} } as const;
    const { signal } = new AbortController();
    await reconcileOnce(options, { key: keyOfCup(name), token: "t", claim, signal, hasLease: () => true });
  };
  const plan = (...words: readonly string[]) =>
    spawnDrover(["plan", ...words, "--kubeconfig", kubeconfig], { cwd });
  return { sandbox, client, cup, write, plan, run };
}

describe("drover plan", () => {
  it("shows what a run would create, and stores nothing", async () => {
    const { cup, write, plan, sandbox } = await openWorld();
    await cup("a", { tea: "green" });
    write(composed("one"));
    const before = sandbox.resourceVersion;
    const { code, stdout, stderr } = await plan("cup/a");
    expect(stderr).toBe("");
    expect(stdout).toMatchInlineSnapshot(`
      "Cup default/a
        + ConfigMap default/a would be created
            + metadata.ownerReferences["Cup a"]: "controller"
            + data.tea: "green"
            + data.word: "one"
        + ConfigMap default/a-0 would be created
            + metadata.ownerReferences["Cup a"]: "controller"
        + Secret default/a would be created
            + metadata.ownerReferences["Cup a"]: "controller"
            + data.key
            + type: "Opaque"
        ~ Cup default/a would be changed
            + status.saucers: 1
            + status.conditions[Ready].status: "True"
            + status.conditions[Ready].reason: "Reconciled"
            + status.conditions[Ready].message: "All 3 children are ready."
      "
    `);
    expect(code).toBe(2);
    expect(sandbox.resourceVersion).toBe(before);
  });

  it("shows how the next version of the code changes an object, and no value of a Secret", async () => {
    const { cup, write, plan, run } = await openWorld();
    await cup("a", { tea: "green", saucers: 2 });
    write(composed("one"));
    await run("a");
    expect(await plan("cups", "default/a")).toMatchObject({
      code: 0,
      stdout: "Cup default/a\n  4 unchanged\n",
    });
    write(composed("two", `other-${secretText}`).replaceAll("spec.saucers", "1"));
    const { code, stdout } = await plan("cups", "a");
    expect(stdout).toMatchInlineSnapshot(`
      "Cup default/a
        ~ ConfigMap default/a would be changed
            ~ data.word: "one" -> "two"
        ~ Secret default/a would be changed
            ~ data.key differs
        - ConfigMap default/a-1 would be deleted
        ~ Cup default/a would be changed
            ~ status.saucers: 2 -> 1
            ~ status.conditions[Ready].message: "All 4 children are ready." -> "All 3 children are ready."
        1 unchanged
      "
    `);
    expect(code).toBe(2);
    const json = await plan("cups", "a", "-o", "json");
    expect(JSON.parse(json.stdout)).toMatchObject([
      {
        kind: "Cup",
        key: "default/a",
        changes: [{ action: "change" }, {}, { fields: [{ hidden: true }] }, {}, {}],
      },
    ]);
    for (const text of [secretText, Buffer.from(secretText).toString("base64").slice(0, 12)])
      expect(stdout + json.stdout).not.toContain(text);
  });

  it("plans objects as kubectl apply of a file would leave them", async () => {
    const { client, cup, write, plan, run, sandbox } = await openWorld();
    write(composed("one"));
    await cup("a", { tea: "green" });
    await run("a");
    const before = sandbox.resourceVersion;
    const cups = ["a", "b"].map((name) => ({
      apiVersion: "example.com/v1",
      kind: "Cup",
      metadata: { name },
      spec: { tea: "black" },
    }));
    write(cups.map((one) => JSON.stringify(one)).join("\n---\n"), "cups.yaml");
    const { code, stdout } = await plan("--file", "cups.yaml");
    expect(stdout).toMatchInlineSnapshot(`
      "Cup default/a
        ~ ConfigMap default/a would be changed
            ~ data.tea: "green" -> "black"
        2 unchanged
      Cup default/b
        + ConfigMap default/b would be created
            + metadata.ownerReferences["Cup b"]: "controller"
            + data.tea: "black"
            + data.word: "one"
        + ConfigMap default/b-0 would be created
            + metadata.ownerReferences["Cup b"]: "controller"
        + Secret default/b would be created
            + metadata.ownerReferences["Cup b"]: "controller"
            + data.key
            + type: "Opaque"
        ~ Cup default/b would be changed
            + status.saucers: 1
            + status.conditions[Ready].status: "True"
            + status.conditions[Ready].reason: "Reconciled"
            + status.conditions[Ready].message: "All 3 children are ready."
      "
    `);
    expect(code).toBe(2);
    expect(sandbox.resourceVersion).toBe(before);
    expect(await client.get(cupRef, keyOfCup("b"))).toBeUndefined();
  });

  it("plans all objects, and sums up what changes", async () => {
    const { cup, write, plan, run } = await openWorld();
    write(composed("one"));
    for (const name of ["a", "b", "c"]) {
      await cup(name, { tea: name === "c" ? "Not ok" : "green" });
      await run(name);
    }
    write(
      composed("one").replace(
        "data: { tea: spec.tea,",
        'data: { [spec.tea]: "1", ...(name !== "a" && { tea: spec.tea }),',
      ),
    );
    const { code, stdout } = await plan("--all");
    expect(stdout).toMatchInlineSnapshot(`
      "Cup default/a
        ~ ConfigMap default/a would be changed
            - data.tea: "green"
            + data.green: "1"
        2 unchanged
      Cup default/b
        ~ ConfigMap default/b would be changed
            + data.green: "1"
        2 unchanged
      Cup default/c
        ! ConfigMap default/c would be refused: The API server answered 422 to PATCH /api/v1/namespaces/default/configmaps/c: ConfigMap "c" is invalid: data[Not ok]: Invalid value: "Not ok": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')
        ~ Cup default/c would be changed
            ~ status.conditions[Ready].status: "True" -> "False"
            ~ status.conditions[Ready].reason: "Reconciled" -> "ChildInvalid"
            ~ status.conditions[Ready].message: "All 3 children are ready." -> "ConfigMap c: The API server answered 422 to PATCH /api/v1/namespaces/default/configmaps/c: ConfigMap \\"c\\" is invalid: …
            + status.conditions[Stalled].status: "True"
            + status.conditions[Stalled].reason: "ChildInvalid"
            + status.conditions[Stalled].message: "ConfigMap c: The API server answered 422 to PATCH /api/v1/namespaces/default/configmaps/c: ConfigMap \\"c\\" is invalid: …
        2 unchanged
        The run would fail: ConfigMap c: The API server answered 422 to PATCH /api/v1/namespaces/default/configmaps/c: ConfigMap "c" is invalid: data[Not ok]: Invalid value: "Not ok": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+').

      3 objects: 0 unchanged, 2 changed, 1 failed

      KIND AND CHANGE     TIMES
      ConfigMap change    2
      ConfigMap refused   1
      Cup change          1

      FIELD                                    TIMES
      ConfigMap data.green                     2
      ConfigMap data.tea                       1
      Cup status.conditions[Ready].message     1
      Cup status.conditions[Ready].reason      1
      Cup status.conditions[Ready].status      1
      Cup status.conditions[Stalled].message   1
      Cup status.conditions[Stalled].reason    1
      Cup status.conditions[Stalled].status    1
      "
    `);
    expect(code).toBe(1);
  });

  it("ends where a run writes outside of the cluster, or needs what it would have written", async () => {
    const { cup, write, plan, sandbox } = await openWorld();
    await cup("a", { tea: "green" });
    const reconcile = (then: string) =>
      moduleWith(`defineController({
        for: Cup, owns,
        async finalize() {},
        async reconcile({ client, metadata: { name, namespace }, guard }) {
          await client.create(builtin.configMap, { metadata: { name, namespace } });
          ${then}
          await client.create(builtin.configMap, { metadata: { name: "later", namespace } });
        },
      })`);
    const before = sandbox.resourceVersion;
    write(reconcile("guard.beforeWrite(); throw new Error('sent');"));
    expect((await plan("cup/a")).stdout).toMatchInlineSnapshot(`
      "Cup default/a
        + ConfigMap default/a would be created
        ~ Cup default/a would be changed
            + metadata.finalizers[0]: "drover.dev/cups.example.com"
        The plan ends here. The run would then write outside of the cluster.
      "
    `);
    write(reconcile("await client.get(builtin.configMap, namespace + '/' + name).catch(() => undefined);"));
    expect((await plan("cup/a")).stdout).toMatchInlineSnapshot(`
      "Cup default/a
        + ConfigMap default/a would be created
        ~ Cup default/a would be changed
            + metadata.finalizers[0]: "drover.dev/cups.example.com"
        The plan ends here. The run reads ConfigMap default/a, which it would have created before.
      "
    `);
    write(reconcile("throw new Error('broken');"));
    expect(await plan("cup/a")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("The run would fail: broken") as string,
    });
    expect(sandbox.resourceVersion).toBe(before);
  });

  it("names what is wrong with its arguments", async () => {
    const { write, plan } = await openWorld();
    const refuses = (words: readonly string[], problem: string) => expectError(plan(...words), problem);
    await refuses(["cup/a"], "There is no");
    write(composed("one"));
    await refuses([], "drover plan KIND NAME");
    await refuses(["cup/a", "--all"], "drover plan KIND NAME");
    await refuses(["pod/a"], "The function is for the kind Cup");
    await refuses(["cup/a"], "There is no Cup default/a");
    write("apiVersion: v1\nkind: Pod\nmetadata: { name: a }", "pod.yaml");
    await refuses(["-f", "pod.yaml"], "pod.yaml has no Cup of example.com/v1");
    await refuses(["-f", "absent.yaml"], "absent.yaml");
  });
});
