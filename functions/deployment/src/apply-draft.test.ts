import type { Announcement, ReconcileContext } from "@drover/controller";
import { builtin, controllerReference, isApiError, keyOf, type KubeObject, listAll } from "@drover/kube";
import { replicaSetSchema } from "@drover/workloads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sandboxOfFile } from "../../../packages/testing/src/sandbox.fixture.ts";
import { applyDraft } from "./apply-draft.ts";
import { decide } from "./decide.ts";
import { type Deployment, deploymentSchema } from "./deployment.ts";
import { type Draft, draftOf } from "./draft.ts";
import { testTime, template } from "./testing/drafts.ts";

const { sandbox, client } = await sandboxOfFile({ controllers: false });

/** The writes and Events, in order. */
let done: string[];
/** True if the last run wrote something that wakes the Deployment again. */
let isWokenAgain: boolean;
let heal: () => void;
beforeEach(async () => {
  for (const ref of [builtin.deployment, builtin.replicaSet])
    for (const one of await listAll(client, ref, { namespace: "default" }))
      await client.delete(ref, keyOf(one));
  done = [];
  heal = sandbox.faults.respond(({ method, path }) => {
    if (method !== "GET") done.push(`${method} ${path.split("/").slice(6).join("/")}`.trim());
    return undefined;
  });
});

afterEach(() => heal());

const replicas = {
  "deployment.kubernetes.io/desired-replicas": "3",
  "deployment.kubernetes.io/max-replicas": "4",
};
const spec = (more: object = {}) => ({
  replicas: 3,
  selector: { matchLabels: { app: "web" } },
  template: template("web:new"),
  strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  progressDeadlineSeconds: 2 ** 31 - 1,
  ...more,
});
const addDeployment = (more: object = {}, annotations: object = {}): Promise<KubeObject> =>
  client.create(builtin.deployment, {
    metadata: { name: "web", namespace: "default", annotations: { ...annotations } },
    spec: spec(more),
  });
const addSet = async (
  owner: KubeObject | undefined,
  { name = "web-old", image = "web:old", size = 0, annotations = {} } = {},
): Promise<KubeObject> => {
  const made = await client.create(builtin.replicaSet, {
    metadata: {
      name,
      namespace: "default",
      labels: { app: "web" },
      annotations,
      ...(owner && { ownerReferences: [controllerReference({ ref: builtin.deployment, ...owner })] }),
    },
    spec: { replicas: size, selector: { matchLabels: { app: "web" } }, template: template(image) },
  });
  const counts = { replicas: size, readyReplicas: size, availableReplicas: size, observedGeneration: 1 };
  return client.replace(builtin.replicaSet, { ...made, status: counts }, { subresource: "status" });
};

/** A run of a Deployment as it is there now, and what is decided of it with these sets. */
function runContextOf(object: KubeObject, ...sets: readonly KubeObject[]) {
  const deployment = deploymentSchema.parse(object);
  const draft = draftOf(
    deployment,
    sets.map((set) => replicaSetSchema.parse(set)),
    testTime,
  );
  decide(draft, false);
  const context = {
    object,
    signal: new AbortController().signal,
    announce: ({ type, reason }: Announcement) => void done.push(`${type} ${reason}`),
  } as Partial<ReconcileContext<typeof Deployment>> as ReconcileContext<typeof Deployment>;
  const { metadata } = deployment;
  const owner = { ref: builtin.deployment, metadata, selector: deployment.spec.selector };
  return { runContext: { client, context, now: () => testTime, deployment, owner }, draft };
}
async function carriedOut(object: KubeObject, ...sets: readonly KubeObject[]): Promise<Draft> {
  const { runContext, draft } = runContextOf(object, ...sets);
  done = [];
  isWokenAgain = await applyDraft(runContext, draft);
  return draft;
}
const now = async () =>
  deploymentSchema.parse(await client.get(builtin.deployment, keyOf({ metadata: web })));
const web = { name: "web", namespace: "default" };

it("writes the sets first, then the Events about them, and the status last", async () => {
  const deployment = await addDeployment();
  const old = await addSet(deployment, { size: 5, annotations: replicas });
  await carriedOut(deployment, old);
  expect(done).toEqual([
    ...["PUT replicasets/web-old", "POST replicasets"],
    ...["Normal ScalingReplicaSet", "PUT deployments/web/status"],
  ]);
});

it("writes nothing where all is as it is to be, and else what differs", async () => {
  const annotations = { ...replicas, "deployment.kubernetes.io/revision": "1" };
  const deployment = await addDeployment({}, { "example.com/team": "a" });
  const before = { ...annotations, "example.com/team": "before" };
  const set = await addSet(deployment, { name: "web-new", image: "web:new", size: 3, annotations: before });
  await carriedOut(deployment, set);
  expect((await client.get(builtin.replicaSet, keyOf(set)))?.metadata.annotations).toEqual({
    ...annotations,
    "example.com/team": "a",
  });
  const again = async () => {
    const [object, one] = [
      await client.get(builtin.deployment, keyOf(deployment)),
      await client.get(builtin.replicaSet, keyOf(set)),
    ];
    await carriedOut(object!, one!);
    return done;
  };
  expect(await again()).toEqual([]);
  // The revision alone is another one.
  const body = { metadata: { annotations: { "deployment.kubernetes.io/revision": "9" } } };
  await client.patch(builtin.deployment, keyOf(deployment), { type: "merge", body });
  await again();
  expect((await now()).metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "1" });
});

it("lets an old set go only as it was when that was decided", async () => {
  const deployment = await addDeployment({ revisionHistoryLimit: 0 });
  const set = await addSet(deployment, { name: "web-new", image: "web:new", size: 3, annotations: replicas });
  const old = await addSet(deployment);
  await client.patch(builtin.replicaSet, keyOf(old), { type: "merge", body: { spec: { replicas: 1 } } });
  const refused: unknown = await carriedOut(deployment, old, set).catch((error: unknown) => error);
  expect(isApiError(refused, "Conflict")).toBe(true);
  expect(await client.get(builtin.replicaSet, keyOf(old))).toBeDefined();
});

it("reports whether a write will wake the Deployment again", async () => {
  const deployment = await addDeployment();
  await carriedOut(deployment);
  expect(isWokenAgain).toBe(true);
  const sets = await listAll(client, builtin.replicaSet, { namespace: "default" });
  await carriedOut((await client.get(builtin.deployment, keyOf(deployment)))!, ...sets);
  expect(isWokenAgain).toBe(false);
});

describe("going back", () => {
  const asking = (to: string) => ({ "deprecated.deployment.rollback.to": to });
  it("changes the template of the Deployment, and leaves all else of it as it was", async () => {
    const deployment = await addDeployment({}, asking("1"));
    const old = await addSet(deployment, { annotations: { "deployment.kubernetes.io/revision": "1" } });
    const fresh = await addSet(deployment, { name: "web-new", image: "web:new", size: 3 });
    await carriedOut(deployment, old, fresh);
    const after = await client.get(builtin.deployment, keyOf(deployment));
    expect(after?.["spec"]).toEqual({
      ...(deployment["spec"] as object),
      template: expect.anything() as unknown,
    });
    expect((await now()).spec.template.spec).toMatchObject(template("web:old").spec);
    expect(after?.metadata.annotations ?? {}).not.toHaveProperty(["deprecated.deployment.rollback.to"]);
    expect(done).toEqual(["PUT deployments/web", "Normal DeploymentRollback"]);
    expect(isWokenAgain).toBe(true);
  });

  it("takes the request away where there is nothing to go back to", async () => {
    const deployment = await addDeployment({}, asking("7"));
    const fresh = await addSet(deployment, { name: "web-new", image: "web:new", size: 3 });
    await carriedOut(deployment, fresh);
    expect((await now()).metadata.annotations ?? {}).not.toHaveProperty([
      "deprecated.deployment.rollback.to",
    ]);
    expect(done).toEqual(["PUT deployments/web", "Warning DeploymentRollbackRevisionNotFound"]);
  });
});

describe("a new set whose name is taken", () => {
  const counted = async (collisionCount: number): Promise<KubeObject> => {
    const made = await addDeployment();
    return client.replace(
      builtin.deployment,
      { ...made, status: { collisionCount } },
      { subresource: "status" },
    );
  };
  it.each([
    ["by one that an earlier run has made is none other", true, "web:new", 1],
    ["by one of another template is made under another name next", true, "web:other", 2],
    ["by one of another controller is made under another name next", false, "web:new", 2],
  ])("%s", async (_, isOurs, image, expected) => {
    const deployment = await counted(1);
    const { runContext, draft } = runContextOf(deployment);
    const name = draft.sets[0]?.set.metadata.name ?? "";
    await addSet(isOurs ? deployment : undefined, { name, image });
    const refused: unknown = await applyDraft(runContext, draft).catch((error: unknown) => error);
    expect(isApiError(refused, "AlreadyExists")).toBe(true);
    expect((await now()).status.collisionCount).toBe(expected);
  });

  it("by its own that no longer matches lets that one go", async () => {
    const deployment = await counted(1);
    const { runContext, draft } = runContextOf(deployment);
    const name = draft.sets[0]?.set.metadata.name ?? "";
    const set = await addSet(deployment, { name, image: "web:new" });
    const body = { metadata: { labels: { app: "other" } } };
    await client.patch(builtin.replicaSet, keyOf(set), { type: "merge", body });
    await applyDraft(runContext, draft).catch(() => undefined);
    expect((await client.get(builtin.replicaSet, keyOf(set)))?.metadata.ownerReferences).toBeUndefined();
    expect((await now()).status.collisionCount).toBe(1);
  });
});

describe("a new set that is refused", () => {
  const refusing = async (more: object) => {
    const deployment = await addDeployment(more);
    heal();
    heal = sandbox.faults.respond(({ method }) =>
      method === "POST" ? { status: 403, message: "quota" } : undefined,
    );
    await expect(carriedOut(deployment)).rejects.toThrow("quota");
    heal();
    const { conditions = [] } = (await now()).status;
    const announced = done.filter((one) => /^(Normal|Warning)/.test(one));
    return [conditions.map(({ type, status, reason }) => [type, status, reason]), announced];
  };
  const announced = ["Warning ReplicaSetCreateError"];
  it("is reported in the Deployment's conditions and progress", async () => {
    expect(await refusing({ progressDeadlineSeconds: 600 })).toEqual([
      [["Progressing", "False", "ReplicaSetCreateError"]],
      announced,
    ]);
  });
  it("is not reported where the namespace is being deleted: nothing is to be made there", async () => {
    const going = { metadata: { name: "going", finalizers: ["example.com/hold"] } };
    await client.create(builtin.namespace, going);
    const deployment = await client.create(builtin.deployment, {
      metadata: { name: "web", namespace: "going" },
      spec: spec({ progressDeadlineSeconds: 600 }),
    });
    await client.delete(builtin.namespace, keyOf(going));
    const refused: unknown = await carriedOut(deployment).catch((error: unknown) => error);
    expect([isApiError(refused, "Forbidden"), done]).toEqual([true, ["POST replicasets"]]);
  });
  it("is not reported as progress where no deadline is set", async () => {
    expect(await refusing({})).toEqual([[], announced]);
  });
});
