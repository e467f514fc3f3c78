import type { Announcement } from "@drover/controller";
import { builtin, connect, keyOf, type KubeClient, listAll } from "@drover/kube";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createPods, deletePods, longestName, type PodControl } from "./pod-control.ts";

let sandbox: Sandbox;
let client: KubeClient;
let said: Announcement[];
let control: PodControl;
beforeEach(async () => {
  // Nobody collects the pods of an owner that is not there.
  sandbox = await startSandbox({ controllers: false });
  client = await connect({ server: sandbox.url, token: sandbox.token, userAgent: "test" });
  said = [];
  control = {
    client,
    owner: {
      ref: builtin.replicaSet,
      metadata: { name: "web", namespace: "default", uid: "u", resourceVersion: "1" },
      selector: {},
    },
    announce: (one) => void said.push(one),
    signal: new AbortController().signal,
  };
});
afterEach(async () => {
  await client.close();
  await sandbox.close();
});

const template = { metadata: {}, spec: { containers: [{ name: "web", image: "web:1" }] } };
const three = { count: 3, seen: [] };
const reasons = () => said.map(({ type, reason }) => `${type} ${reason}`);

it("makes pods and deletes them, and says so", async () => {
  const { done, refused } = await createPods(control, template, three);
  expect(refused).toBeUndefined();
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

it("stops at the first batch in which one is refused, and says why", async () => {
  sandbox.faults.respond(({ method }) => (method === "POST" ? { status: 403 } : undefined));
  const { done, refused } = await createPods(control, template, three);
  expect(done).toEqual([]);
  expect(refused).toBeDefined();
  expect(reasons()).toEqual(["Warning FailedCreate"]);
});

it("says nothing of what it does not send since its run is over", async () => {
  const { done } = await createPods(control, template, { count: 1, seen: [] });
  said = [];
  const over = client.guarded({
    beforeWrite() {
      throw new Error("The run's lease is over.");
    },
  });
  const late = { ...control, client: over };
  expect((await createPods(late, template, { count: 1, seen: done })).refused).toBeDefined();
  expect((await deletePods(late, done)).refused).toBeDefined();
  expect(said).toEqual([]);
});

it.each([
  [longestName - 1, longestName],
  [longestName, longestName],
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
