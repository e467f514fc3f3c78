import type { Announcement } from "@drover/controller";
import { builtin, connect, keyOf, type KubeClient, listAll } from "@drover/kube";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  createPods,
  deletePods,
  isNamespaceTerminating,
  maxNameLength,
  type PodControl,
} from "./pod-control.ts";
import type { Pod } from "./pod.ts";

let sandbox: Sandbox;
let client: KubeClient;
let announcements: Announcement[];
let control: PodControl;
beforeEach(async () => {
  // No garbage collector: the owner of the pods does not exist.
  sandbox = await startSandbox({ controllers: false });
  client = await connect({ server: sandbox.url, token: sandbox.token, userAgent: "test" });
  announcements = [];
  control = {
    client,
    owner: {
      ref: builtin.replicaSet,
      metadata: { name: "web", namespace: "default", uid: "u", resourceVersion: "1" },
      selector: {},
    },
    announce: (one) => void announcements.push(one),
    signal: new AbortController().signal,
  };
});
afterEach(async () => {
  await client.close();
  await sandbox.close();
});

const template = { metadata: {}, spec: { containers: [{ name: "web", image: "web:1" }] } };
const three = { count: 3, seen: [] };
const reasons = () => announcements.map(({ type, reason }) => `${type} ${reason}`);

it("makes pods and deletes them, and announces it", async () => {
  const { done, firstFailure } = await createPods(control, template, three);
  expect(firstFailure).toBeUndefined();
  await deletePods(control, done.slice(1));
  expect(await listAll(client, builtin.pod)).toHaveLength(1);
  expect(reasons()).toEqual([
    ...["Normal SuccessfulCreate", "Normal SuccessfulCreate", "Normal SuccessfulCreate"],
    ...["Normal SuccessfulDelete", "Normal SuccessfulDelete"],
  ]);
});

it("asks for the same pods again when the same is decided upon", async () => {
  await createPods(control, template, three);
  const { done } = await createPods(control, template, three);
  expect(done).toHaveLength(3);
  expect(await listAll(client, builtin.pod)).toHaveLength(3);
});

it("asks for the same pods again in whatever order those before them are listed, and for others than those", async () => {
  const { done: seen } = await createPods(control, template, three);
  const asked = async (pods: readonly Pod[]) => {
    const { done } = await createPods(control, template, { count: 2, seen: pods });
    return done.map(({ metadata }) => metadata.name).sort();
  };
  const names = await asked(seen);
  expect(await asked(seen.toReversed())).toEqual(names);
  expect(await listAll(client, builtin.pod)).toHaveLength(5);
  // One of them has gone: what is missing now is another one.
  expect(await asked(seen.slice(1))).not.toEqual(names);
});

it("makes pods with all that stands in the template's metadata", async () => {
  const metadata = {
    labels: { app: "web" },
    annotations: { "example.com/a": "b" },
    finalizers: ["example.com/hold"],
  };
  const { done } = await createPods(control, { ...template, metadata }, { count: 1, seen: [] });
  expect(await client.get(builtin.pod, keyOf(done[0]!))).toMatchObject({ metadata });
});

/** A pod of that name which is another's. */
const another = ({ metadata: { name, namespace } }: Pod) =>
  client.create(builtin.pod, { metadata: { name, namespace }, spec: template.spec });

it("does not take a pod of another one for its own that has the name", async () => {
  const { done } = await createPods(control, template, { count: 1, seen: [] });
  await client.delete(builtin.pod, keyOf(done[0]!));
  await another(done[0]!);
  announcements = [];
  const again = await createPods(control, template, { count: 1, seen: [] });
  expect([again.done, reasons()]).toEqual([[], ["Warning FailedCreate"]]);
  expect(again.firstFailure).toBeDefined();
});

it("announces no pods that a namespace refuses because it is being deleted, but other refusals", async () => {
  const metadata = { name: "going", finalizers: ["example.com/hold"] };
  await client.create(builtin.namespace, { metadata });
  await client.delete(builtin.namespace, keyOf({ metadata }));
  const owner = { ...control.owner, metadata: { ...control.owner.metadata, namespace: "going" } };
  const going = await createPods({ ...control, owner }, template, { count: 1, seen: [] });
  expect([isNamespaceTerminating(going.firstFailure?.reason), announcements]).toEqual([true, []]);
  sandbox.faults.respond(({ method }) => (method === "POST" ? { status: 403 } : undefined));
  const other = await createPods(control, template, { count: 1, seen: [] });
  expect([isNamespaceTerminating(other.firstFailure?.reason), reasons()]).toEqual([
    false,
    ["Warning FailedCreate"],
  ]);
});

it("leaves a pod alone that has taken the name of the one to be deleted, and counts that as gone", async () => {
  const { done } = await createPods(control, template, { count: 2, seen: [] });
  await client.delete(builtin.pod, keyOf(done[0]!));
  await another(done[0]!);
  await client.delete(builtin.pod, keyOf(done[1]!));
  announcements = [];
  const deleted = await deletePods(control, done);
  expect([deleted.done.length, deleted.firstFailure, announcements]).toEqual([2, undefined, []]);
  expect(await client.get(builtin.pod, keyOf(done[0]!))).toBeDefined();
});

it("returns those that were made beside one that is refused", async () => {
  let posts = 0;
  sandbox.faults.respond(({ method }) => (method === "POST" && ++posts === 3 ? { status: 403 } : undefined));
  const { done, firstFailure } = await createPods(control, template, { count: 7, seen: [] });
  expect(firstFailure).toBeDefined();
  expect(done.map(({ metadata }) => metadata.name).sort()).toEqual(
    (await listAll(client, builtin.pod)).map(({ metadata }) => metadata.name).sort(),
  );
  expect([done.length, posts]).toEqual([2, 3]);
});

it("stops at the first batch in which one is refused, and announces why", async () => {
  sandbox.faults.respond(({ method }) => (method === "POST" ? { status: 403 } : undefined));
  const { done, firstFailure } = await createPods(control, template, three);
  expect(done).toEqual([]);
  expect(firstFailure).toBeDefined();
  expect(reasons()).toEqual(["Warning FailedCreate"]);
});

it("announces nothing that it does not send since its run is over", async () => {
  const { done } = await createPods(control, template, { count: 1, seen: [] });
  announcements = [];
  const over = client.guarded({
    beforeWrite() {
      throw new Error("The run's lease is over.");
    },
  });
  const late = { ...control, client: over };
  expect((await createPods(late, template, { count: 1, seen: done })).firstFailure).toBeDefined();
  expect((await deletePods(late, done)).firstFailure).toBeDefined();
  expect(announcements).toEqual([]);
});

it.each([
  [maxNameLength - 1, maxNameLength],
  [maxNameLength, maxNameLength],
])(
  "of an owner whose name has %i characters makes a generateName that names may have",
  async (length, expected) => {
    const metadata = { ...control.owner.metadata, name: "w".repeat(length) };
    const { done } = await createPods({ ...control, owner: { ...control.owner, metadata } }, template, {
      count: 1,
      seen: [],
    });
    const made = await client.get(builtin.pod, keyOf(done[0]!));
    expect(made?.metadata["generateName"]).toHaveLength(expected);
  },
);
