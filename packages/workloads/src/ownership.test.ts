import { objectKey, type OwnerReference } from "@drover/controller";
import { builtin, connect, isApiError, type KubeClient, type NewObject } from "@drover/kube";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { afterEach, beforeEach, expect, it } from "vitest";
import { adoptAndRelease, ownershipAction, type Owner } from "./ownership.ts";

let sandbox: Sandbox;
let client: KubeClient;
beforeEach(async () => {
  sandbox = await startSandbox({ controllers: false });
  client = await connect({ server: sandbox.url, token: sandbox.token, userAgent: "test" });
});
afterEach(async () => {
  await client.close();
  await sandbox.close();
});

const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const web = objectKey({ namespace: "default", name: "web" });
const replicaSet = () =>
  client.create(builtin.replicaSet, {
    metadata: { name: "web", namespace: "default" },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
const ownerOf = ({ metadata }: Awaited<ReturnType<typeof replicaSet>>): Owner => ({
  ref: builtin.replicaSet,
  metadata,
  selector: { matchLabels: labels },
});
const orphan = (more: Partial<NewObject["metadata"]> = {}) =>
  client.create(builtin.pod, {
    metadata: { name: "orphan", namespace: "default", labels, ...more },
    spec: template.spec,
  });
const orphanAt = objectKey({ namespace: "default", name: "orphan" });
const foreign = { apiVersion: "example.com/v1", kind: "Shelf", name: "shelf", uid: "s" };
const ownersNow = async () => (await client.get(builtin.pod, orphanAt))?.metadata.ownerReferences ?? [];
const claimed = async (owner: Owner) => {
  const { signal } = new AbortController();
  const pods = [(await client.get(builtin.pod, orphanAt))!];
  return adoptAndRelease({ client, owner, kind: builtin.pod, signal }, pods);
};

it("an orphan is adopted by an owner that is there", async () => {
  const owner = ownerOf(await replicaSet());
  await orphan();
  const [adopted] = await claimed(owner);
  expect(adopted?.metadata.ownerReferences).toMatchObject([{ uid: owner.metadata.uid, controller: true }]);
});

it.each([
  ["is gone", () => Promise.resolve()],
  ["was replaced by another of its name", replicaSet],
])("no orphan is adopted for an owner that %s since it was read", async (_what, next) => {
  const owner = ownerOf(await replicaSet());
  await client.delete(builtin.replicaSet, web);
  await next();
  const pod = await orphan();
  expect(await claimed(owner)).toEqual([]);
  expect(await client.get(builtin.pod, objectKey({ namespace: "default", name: "orphan" }))).toEqual(pod);
});

it("an owner that is being deleted by now, though it was not when it was read, adopts nothing", async () => {
  const owner = ownerOf(await replicaSet());
  const finalizers = { type: "merge", body: { metadata: { finalizers: ["example.com/hold"] } } } as const;
  await client.patch(builtin.replicaSet, web, finalizers);
  await client.delete(builtin.replicaSet, web);
  await orphan();
  expect(await claimed(owner)).toEqual([]);
  expect(await ownersNow()).toEqual([]);
});

it("an adopted or released object keeps its other owners", async () => {
  const owner = ownerOf(await replicaSet());
  await orphan({ ownerReferences: [foreign] });
  const [adopted] = await claimed(owner);
  expect((await ownersNow()).map(({ uid }) => uid)).toEqual(["s", owner.metadata.uid]);
  // The returned object is the written version.
  expect(adopted?.metadata.resourceVersion).toBe(
    (await client.get(builtin.pod, orphanAt))?.metadata.resourceVersion,
  );
  expect(await claimed({ ...owner, selector: { matchLabels: { app: "other" } } })).toEqual([]);
  expect(await ownersNow()).toEqual([foreign]);
});

it("an orphan that is changed between reading and adopting is read again first; a deleted one is left out", async () => {
  const owner = ownerOf(await replicaSet());
  await orphan();
  const reading: Pick<KubeClient, "get"> = {
    async get(ref, ...asked) {
      const found = await client.get(ref, ...asked);
      await change();
      return found;
    },
  };
  let change = (): Promise<unknown> =>
    client.patch(builtin.pod, orphanAt, { type: "merge", body: { metadata: { labels: { app: "other" } } } });
  const pods = [(await client.get(builtin.pod, orphanAt))!];
  const parts = { client: { ...client, ...reading }, owner, kind: builtin.pod };
  const adopting = () => adoptAndRelease({ ...parts, signal: new AbortController().signal }, pods);
  const refused: unknown = await adopting().catch((error: unknown) => error);
  expect(isApiError(refused, "Conflict")).toBe(true);
  expect(await ownersNow()).toEqual([]);
  change = () => client.delete(builtin.pod, orphanAt);
  expect(await adopting()).toEqual([]);
});

const own = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u", controller: true };
const others = { ...own, uid: "v" };
interface Deleted {
  readonly owner?: boolean;
  readonly object?: boolean;
}
it.each<[string, string, readonly OwnerReference[], Deleted, string]>([
  ["an orphan that matches", "web", [], {}, "adopt"],
  ["an orphan that does not match", "other", [], {}, "leave"],
  ["its own that matches", "web", [own], {}, "own"],
  ["its own that does not match any more", "other", [own], {}, "release"],
  ["another one's that matches", "web", [others], {}, "leave"],
  ["another one's of which it is an owner, too", "web", [{ ...own, controller: false }, others], {}, "leave"],
  ["its own that has other owners before it", "web", [foreign, own], {}, "own"],
  ["one with owners of which none controls it", "web", [foreign], {}, "adopt"],
  ["an orphan that is being deleted", "web", [], { object: true }, "leave"],
  ["its own that is being deleted", "web", [own], { object: true }, "own"],
  ["an orphan while it is being deleted itself", "web", [], { owner: true }, "leave"],
  ["its own while it is being deleted itself", "web", [own], { owner: true }, "own"],
  ["its own that does not match while it is being deleted itself", "other", [own], { owner: true }, "leave"],
])("what an owner does with %s", (_, app, ownerReferences, deleting, expected) => {
  const metadata = (isDeleting: boolean) => ({
    name: "web",
    namespace: "default",
    uid: "u",
    resourceVersion: "1",
    ...(isDeleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  });
  const owner = {
    ref: builtin.replicaSet,
    metadata: metadata(deleting.owner === true),
    selector: { matchLabels: labels },
  };
  const object = {
    metadata: { ...metadata(deleting.object === true), uid: "p", labels: { app }, ownerReferences },
  };
  expect(ownershipAction(owner, { apiVersion: "v1", kind: "Pod", ...object })).toBe(expected);
});
