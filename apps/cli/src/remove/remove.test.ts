import { customResourceDefinition, objectKey, ReconcileFunction } from "@drover/controller";
import { builtin, type KubeClient, type KubeObject, refOf, kindOf, listAll } from "@drover/kube";
import { afterEach, expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { plainKind } from "../testing/plain-kind.ts";
import { remove, type RemoveOptions } from "./remove.ts";
import { uninstall } from "./uninstall.ts";

const fork = plainKind({ kind: "Fork" });
const knife = plainKind({ kind: "Knife" });
const { sandbox, client } = await sandboxOfFile({
  kinds: [fork, knife, ReconcileFunction],
  namespaces: ["a", "b", "c"],
});
const functionRef = refOf(ReconcileFunction);
const finalizer = "drover.dev/forks";
let printed: string[] = [];

afterEach(async () => {
  printed = [];
  for (const ref of [refOf(fork), refOf(knife), functionRef])
    for (const { metadata } of await listAll(client, ref)) {
      const key = objectKey(metadata);
      await client.patch(ref, key, { type: "merge", body: { metadata: { finalizers: null } } });
      await client.delete(ref, key);
    }
});

const removed = (more: Partial<RemoveOptions> = {}, by: KubeClient = client): Promise<void> =>
  remove(by, {
    key: objectKey({ namespace: "a", name: "forks" }),
    choice: "release",
    isConfirmed: false,
    kind: undefined,
    wait: 60_000,
    withoutDeployerIn: undefined,
    print: (line) => void printed.push(line),
    ...more,
  });
/** A function without a deployer: it is gone when no finalizer holds it. */
const register = (namespace: string, of: object = {}): Promise<KubeObject> =>
  client.create(functionRef, {
    metadata: { namespace, name: "forks" },
    spec: { for: { ...kindOf(refOf(fork)), ...of } },
  });
const createFork = (namespace: string, name: string, ...others: readonly string[]): Promise<KubeObject> =>
  client.create(refOf(fork), { metadata: { namespace, name, finalizers: [finalizer, ...others] }, spec: {} });
const finalizersIn = async (namespace: string): Promise<readonly string[]> =>
  (await listAll(client, refOf(fork), { namespace })).flatMap(({ metadata }) => metadata.finalizers ?? []);
const functions = async () => (await listAll(client, functionRef)).map(({ metadata }) => metadata);

it("releases objects in the function's namespaces only, and leaves finalizers of others on them", async () => {
  await register("a", { namespaces: ["a"] });
  await createFork("a", "one", "example.com/other");
  await createFork("b", "one");
  await removed();
  expect(await finalizersIn("a")).toEqual(["example.com/other"]);
  expect(await finalizersIn("b")).toEqual([finalizer]);
  expect(await functions()).toEqual([]);
});

it.each([
  [{}, { namespaces: ["b"] }],
  [{ namespaces: ["a"] }, {}],
  [{ namespaces: ["a", "b"] }, { namespaces: ["b", "c"] }],
])("releases no object that another function of this name may have: %j, %j", async (its, others) => {
  await register("a", its);
  await register("b", others);
  await createFork("b", "one");
  for (const choice of ["release", "finalize"] as const)
    await expect(removed({ choice, isConfirmed: true })).rejects.toThrow(
      /^b\/forks has the same finalizer, drover\.dev\/forks, /,
    );
  await expect(removed({ key: objectKey({ namespace: "c", name: "forks" }), kind: "forks" })).rejects.toThrow(
    /has the same finalizer/,
  );
  expect(await finalizersIn("b")).toEqual([finalizer]);
  expect(
    (await functions()).map(({ finalizers, deletionTimestamp }) => finalizers ?? deletionTimestamp),
  ).toEqual([undefined, undefined]);
});

it("a function whose finalizer another one has, too, leaves it the objects", async () => {
  await register("a");
  await register("b", { namespaces: ["b"] });
  await createFork("b", "one");
  await removed({ choice: undefined });
  expect(printed.at(-1)).toBe("b/forks has the same finalizer, and keeps the objects");
  expect(await finalizersIn("b")).toEqual([finalizer]);
  expect((await functions()).map(({ namespace }) => namespace)).toEqual(["b"]);
});

it("gives up when something puts the finalizer on again, such as a function without a ReconcileFunction", async () => {
  await register("a");
  await createFork("a", "one");
  const patch: typeof client.patch = async (...request) => {
    await client.patch(...request);
    return client.patch(refOf(fork), request[1], {
      type: "merge",
      body: { metadata: { finalizers: [finalizer] } },
    });
  };
  await expect(removed({}, { ...client, patch })).rejects.toThrow(
    /has got the finalizer drover\.dev\/forks again: a function still runs/,
  );
});

it("functions of this name with other kinds or other namespaces do not matter", async () => {
  await register("a", { namespaces: ["a"] });
  await register("b", { namespaces: ["b"] });
  await register("c", { kind: "Spoon", plural: "spoons" });
  await createFork("a", "one");
  await createFork("b", "one");
  await removed();
  expect([await finalizersIn("a"), await finalizersIn("b")]).toEqual([[], [finalizer]]);
});

it("releases an object that is written at the same time", async () => {
  await register("a");
  await createFork("a", "one");
  let writes = 0;
  const undo = sandbox.faults.respond(({ method, path }) =>
    method === "PATCH" && path.includes("/forks/") && ++writes === 1
      ? { status: 409, reason: "Conflict" }
      : undefined,
  );
  await removed();
  undo();
  expect(writes).toBe(2);
  expect(printed.at(-1)).toBe("1 forks.example.com: released from drover.dev/forks");
  expect(await finalizersIn("a")).toEqual([]);
});

it("a user who may not delete the function changes nothing", async () => {
  await register("a");
  await createFork("a", "one");
  const undo = sandbox.faults.respond(({ method, path }) =>
    method === "DELETE" && path.includes("/reconcilefunctions/") ? { status: 403 } : undefined,
  );
  await expect(removed({ choice: "finalize", isConfirmed: true })).rejects.toThrow(/403/);
  undo();
  const forks = await listAll(client, refOf(fork));
  expect(forks.map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined]);
});

it("a user who may not list the objects changes nothing, since it is not known which are held", async () => {
  await register("a");
  const undo = sandbox.faults.respond(({ path }) => (path.includes("/forks") ? { status: 403 } : undefined));
  await expect(removed({ choice: undefined })).rejects.toThrow(/403/);
  undo();
  expect((await functions()).map(({ deletionTimestamp }) => deletionTimestamp)).toEqual([undefined]);
});

it("objects of a kind that is served in another version are not taken for none", async () => {
  await register("a", { version: "v9" });
  await createFork("a", "one");
  await expect(removed({ choice: undefined })).rejects.toThrow(/v9/);
  expect((await functions()).map(({ deletionTimestamp }) => deletionTimestamp)).toEqual([undefined]);
});

it("a function whose CRD was deleted has no objects", async () => {
  await client.delete(builtin.crd, objectKey({ name: "forks.example.com" }));
  await register("a");
  await removed({ choice: undefined });
  expect(await functions()).toEqual([]);
  await client.create(builtin.crd, { ...customResourceDefinition(fork) });
});

const uninstalled = (choice: RemoveOptions["choice"], isConfirmed = true): Promise<void> =>
  uninstall(client, {
    choice,
    isConfirmed,
    wait: 60_000,
    withoutDeployerIn: undefined,
    droverNamespace: "drover",
    print: (line) => void printed.push(line),
  });

it("uninstall removes the functions of all namespaces, those last that share a finalizer, and not the deployer", async () => {
  for (const namespace of ["a", "b"]) await register(namespace);
  await register("c", { namespaces: ["c"] });
  await client.create(functionRef, {
    metadata: { namespace: "c", name: "deployer" },
    spec: { for: kindOf(functionRef) },
  });
  await createFork("a", "one", "example.com/other");
  await expect(uninstalled(undefined)).rejects.toThrow(/a\/forks, b\/forks, c\/forks\. Nothing was changed/);
  expect(await functions()).toHaveLength(4);
  await uninstalled("release");
  expect((await functions()).map(({ name }) => name)).toEqual(["deployer"]);
  expect(await finalizersIn("a")).toEqual(["example.com/other"]);
  expect(printed.at(-1)).toBe("No function is left. Next: helm uninstall drover -n drover");
});

it("uninstall names the objects that a function before has left, and begins again after an interruption", async () => {
  await createFork("b", "left");
  await expect(uninstalled("release")).rejects.toThrow(
    /^No function is left, but:\nproblem {2}forks\S*: 1 object \(b\/left\) has .*\n +next: .*--release --kind forks/,
  );
  await register("a");
  await uninstalled("release");
  expect(await finalizersIn("b")).toEqual([]);
});

it("uninstall finalizes the objects of all functions together: one may make those of another again", async () => {
  const knives = refOf(knife);
  await client.create(functionRef, {
    metadata: { namespace: "a", name: "knives" },
    spec: { for: kindOf(knives) },
  });
  await register("a");
  await client.create(knives, {
    metadata: { namespace: "a", name: "child", finalizers: ["drover.dev/knives"] },
    spec: {},
  });
  await createFork("a", "parent");
  await expect(uninstalled("finalize", false)).rejects.toThrow(
    /Nothing was changed\. If that is right, add --yes\./,
  );
  // Stands in for both functions: the forks' makes the child again while its parent lives.
  const ending = new AbortController();
  const child = objectKey({ namespace: "a", name: "child" });
  const parent = objectKey({ namespace: "a", name: "parent" });
  const acting = (async () => {
    while (!ending.signal.aborted) {
      const [fork1, knife1] = await Promise.all([client.get(refOf(fork), parent), client.get(knives, child)]);
      const free = { type: "merge", body: { metadata: { finalizers: null } } } as const;
      if (knife1?.metadata.deletionTimestamp !== undefined) await client.patch(knives, child, free);
      else if (fork1?.metadata.deletionTimestamp !== undefined && knife1 === undefined)
        await client.patch(refOf(fork), parent, free);
      else if (fork1 !== undefined && fork1.metadata.deletionTimestamp === undefined && knife1 === undefined)
        await client.create(knives, {
          metadata: { namespace: "a", name: "child", finalizers: ["drover.dev/knives"] },
          spec: {},
        });
    }
  })();
  await uninstalled("finalize");
  ending.abort();
  await acting;
  expect(await client.get(knives, child)).toBeUndefined();
  expect(await functions()).toEqual([]);
});

it("uninstall deletes no object of a function that is being deleted, and so finalizes none", async () => {
  const { metadata } = await register("a");
  await client.patch(functionRef, objectKey(metadata), {
    type: "merge",
    body: { metadata: { finalizers: ["drover.dev/deployer"] } },
  });
  await client.delete(functionRef, objectKey(metadata));
  await createFork("a", "one");
  await expect(uninstalled("finalize")).rejects.toThrow(
    /a\/forks is being deleted, so it no longer finalizes its 1 forks/,
  );
  const [one] = await listAll(client, refOf(fork));
  expect(one?.metadata.deletionTimestamp).toBeUndefined();
});
