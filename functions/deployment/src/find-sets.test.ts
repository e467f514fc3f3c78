import { builtin, controllerReference, isControlledBy, keyOf, listAll, type NewObject } from "@drover/kube";
import type { Owner, ReplicaSetObject } from "@drover/workloads";
import { beforeEach, expect, it } from "vitest";
import { sandboxOfFile } from "../../../packages/testing/src/sandbox.fixture.ts";
import type { DeploymentObject } from "./deployment.ts";
import { draftOf } from "./draft.ts";
import { findSets, oldPodsMayRun } from "./find-sets.ts";
import type { DeploymentRunContext } from "./deployment-run-context.ts";
import { deploymentOf, setOf, type SetOptions, testTime, template } from "./testing/drafts.ts";

const { client } = await sandboxOfFile({ controllers: false });

beforeEach(async () => {
  for (const pod of await listAll(client, builtin.pod, { namespace: "default" }))
    await client.delete(builtin.pod, keyOf(pod));
});

const ended = { replicas: 0, readyReplicas: 0, availableReplicas: 0 };
const set = (image: string, more: SetOptions = {}): ReplicaSetObject => {
  const one = setOf(image, { size: 0, status: ended, ...more });
  return { ...one, metadata: { ...one.metadata, uid: image } };
};
/** A pod of a set; of none that the Deployment has, where there is no such. */
async function addPod(
  image: string,
  status: object = { phase: "Running" },
  more: object = {},
): Promise<void> {
  const owner = { ref: builtin.replicaSet, metadata: set(image).metadata };
  const metadata = { name: "a", namespace: "default", labels: { app: "web" }, ...more };
  const pod: NewObject = {
    metadata: { ...metadata, ownerReferences: [controllerReference(owner)] },
    spec: { containers: [{ name: "a", image: "a" }] },
  };
  const made = await client.create(builtin.pod, pod);
  await client.replace(builtin.pod, { ...made, status }, { subresource: "status" });
}
const recreated = { replicas: 2, strategy: { type: "Recreate" } };
const ownerOf = ({ metadata, spec: { selector } }: DeploymentObject): Owner => ({
  ref: builtin.deployment,
  metadata,
  selector,
});
/** As much of a run context as looking for sets takes. */
const runContextOf = (deployment: DeploymentObject): DeploymentRunContext =>
  ({
    client,
    deployment,
    owner: ownerOf(deployment),
    context: { signal: AbortSignal.timeout(30_000) },
  }) as unknown as DeploymentRunContext;
function mayRun(spec: object, ...sets: readonly ReplicaSetObject[]): Promise<boolean> {
  const deployment = deploymentOf(spec);
  return oldPodsMayRun(runContextOf(deployment), draftOf(deployment, sets, testTime));
}

/** Sets that the Deployment controls, by their labels; answers those that it still does after a look at its sets. */
async function keptOf(labels: readonly string[], reported: number): Promise<readonly string[]> {
  const deployment = deploymentOf({}, { status: { replicas: reported } });
  for (const app of labels) {
    const selector = { matchLabels: { app } };
    await client.create(builtin.replicaSet, {
      metadata: {
        name: app,
        namespace: "default",
        labels: { app },
        ownerReferences: [controllerReference(ownerOf(deployment))],
      },
      spec: { replicas: 0, selector, template: { ...template("a"), metadata: { labels: { app } } } },
    });
  }
  await findSets(runContextOf(deployment));
  const sets = await listAll(client, builtin.replicaSet, { namespace: "default" });
  for (const one of sets) await client.delete(builtin.replicaSet, keyOf(one));
  return sets
    .filter(({ metadata }) => isControlledBy(metadata, deployment.metadata))
    .map(({ metadata }) => metadata.name);
}

it.each<[string, string[], number, string[]]>([
  ["released where the Deployment has no other", ["strayed"], 0, []],
  ["released where fewer replicas are found than were reported", ["strayed", "web"], 1, ["web"]],
  ["not looked for where all is found that was reported", ["strayed", "web"], 0, ["strayed", "web"]],
])("a set whose labels have been changed is %s", async (_, labels, reported, kept) => {
  expect(await keptOf(labels, reported)).toEqual(kept);
});

const olds = [set("web:a"), set("web:b", { age: 1 })];

it.each([
  ["of an old set that is to have some", recreated, [set("web:a", { size: 1 })], true],
  [
    "of an old set that has some in its status",
    recreated,
    [set("web:a", { status: { ...ended, replicas: 1 } })],
    true,
  ],
  ["where there are none", recreated, olds, false],
  ["of a Deployment that rolls", { replicas: 2 }, [set("web:a", { size: 1 })], false],
  ["of one that is paused", { ...recreated, paused: true }, [set("web:a", { size: 1 })], false],
  ["once the new set has all", recreated, [set("web:a", { size: 1 }), setOf("web:new", { size: 2 })], false],
])("old pods are waited for %s: %s", async (_, spec, sets, expected) => {
  expect(await mayRun(spec, ...sets)).toBe(expected);
});

it.each([
  ["that runs", "web:a", { phase: "Running" }, true],
  ["that runs, of any old set", "web:b", { phase: "Running" }, true],
  ["that has succeeded", "web:a", { phase: "Succeeded" }, false],
  ["that has failed", "web:a", { phase: "Failed" }, false],
  ["of another one's", "web:other", { phase: "Running" }, false],
  ["of the new set", "web:new", { phase: "Running" }, false],
])("a pod %s is waited for: %s", async (_, image, status, expected) => {
  await addPod(image, status);
  expect(await mayRun(recreated, ...olds, set("web:new", { size: 1, age: 2 }))).toBe(expected);
});

it("a pod that is about to end is waited for until it has", async () => {
  await addPod("web:a", { phase: "Running" }, { finalizers: ["example.com/hold"] });
  const [pod] = await listAll(client, builtin.pod, { namespace: "default" });
  await client.delete(builtin.pod, keyOf(pod!));
  expect(await mayRun(recreated, ...olds)).toBe(true);
  const body = { metadata: { finalizers: null } };
  await client.patch(builtin.pod, keyOf(pod!), { type: "merge", body });
  expect(await mayRun(recreated, ...olds)).toBe(false);
});
