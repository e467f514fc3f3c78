// Performs an action, and returns the API server's answer.
import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { objectKey } from "@drover/controller";
import { isApiError } from "@drover/kube";
import type { KubeClient, KubeObject } from "@drover/kube";
import { field, isJson, isObject, listAt, objectAt, textAt } from "../../../packages/sandbox/src/json.ts";
import type { JsonObject } from "../../../packages/sandbox/src/json.ts";
import { filledIn } from "./actions.ts";
import { withTimes } from "./times.ts";
import type { Action, Change } from "./actions.ts";
import { shownPods } from "../canonical/canonical.ts";
import type { Naming } from "../canonical/canonical.ts";
import {
  holdingFinalizer,
  isActive,
  isBehind,
  isOwnedBy,
  kindNames,
  kinds,
  nameOf,
  numberAt,
  quotas,
  runLabel,
  templateOf,
  uidOf,
} from "./kinds.ts";
import type { Kind } from "./kinds.ts";
import type { World } from "../observe.ts";

export interface Actor {
  readonly client: KubeClient;
  /** Path of a kubectl for the same server. */
  readonly kubectl: string;
  readonly world: World;
  readonly naming: Naming;
  /** All kinds that there are objects of, owners first. */
  readonly kinds: readonly Kind[];
}

const keyIn = ({ world }: Actor, name: string, kind?: Kind) =>
  objectKey(kind === "Node" ? { name } : { namespace: world.namespace, name });
const quotaName = "limit";

/** Waits until the watch has the write: settling begins then. */
async function untilSeen({ world }: Actor, { metadata }: KubeObject): Promise<void> {
  const newest = Number(metadata.resourceVersion);
  const isSeen = (): boolean =>
    world.seen.some(
      ({ object }) =>
        uidOf(object) === metadata.uid && Number(textAt(object, "metadata", "resourceVersion")) >= newest,
    );
  while (!isSeen()) await delay(10);
}

/** A uid that no object has, for a name that no Job has. */
const uidOfJobIn = ({ world }: Actor, name: string): string =>
  world
    .objects("Job")
    .filter((one) => nameOf(one) === name)
    .map(uidOf)[0] ?? "of-nothing";

const filled = (actor: Actor, body: JsonObject): JsonObject =>
  withTimes(
    filledIn(body, { uidOf: (name) => uidOfJobIn(actor, name), namespace: actor.world.namespace }),
    actor.naming.written,
  );

async function create(actor: Actor, wanted: JsonObject): Promise<void> {
  const object = filled(actor, wanted);
  const kind = kindNames.find((one) => one === object["kind"]);
  if (kind === undefined) throw new Error(`No such kind: ${JSON.stringify(object["kind"])}`);
  const metadata = {
    ...objectAt(object, "metadata"),
    name: nameOf(object),
    namespace: actor.world.namespace,
  };
  await untilSeen(actor, await actor.client.create(kinds[kind], { ...object, metadata }));
}

async function patch(actor: Actor, kind: Kind, name: string, wanted: JsonObject): Promise<void> {
  const body = filled(actor, wanted);
  const key = keyIn(actor, name, kind);
  await untilSeen(actor, await actor.client.patch(kinds[kind], key, { type: "merge", body }));
}

async function writeStatus(actor: Actor, kind: Kind, name: string, status: JsonObject): Promise<void> {
  const merge = { type: "merge", body: { status } } as const;
  const options = { subresource: "status" } as const;
  await untilSeen(actor, await actor.client.patch(kinds[kind], keyIn(actor, name), merge, options));
}

async function createAll(actor: Actor, objects: readonly JsonObject[]): Promise<void> {
  await Promise.all(
    objects.map(async ({ status, ...object }) => {
      await create(actor, object);
      const kind = kindNames.find((one) => one === object["kind"]);
      if (kind !== undefined && isObject(status)) await writeStatus(actor, kind, nameOf(object), status);
    }),
  );
}

async function changeSlice(actor: Actor, of: string, change: Change): Promise<string> {
  const [slice] = actor.world
    .objects("EndpointSlice")
    .filter((one) => textAt(one, "metadata", "labels", "kubernetes.io/service-name") === of)
    .sort((a, b) => (shownSlice(a) < shownSlice(b) ? -1 : 1));
  if (slice === undefined) return "there is none";
  await apply(actor, "EndpointSlice", nameOf(slice), change);
  return "done";
}

const shownSlice = (slice: JsonObject): string =>
  JSON.stringify([
    field(slice, "addressType") ?? null,
    field(slice, "ports") ?? null,
    field(slice, "endpoints") ?? null,
  ]);

async function apply(actor: Actor, kind: Kind, name: string, change: Change): Promise<void> {
  const { world, client } = actor;
  const found = world.objects(kind).find((one) => nameOf(one) === name);
  if (change === "hold" || change === "free") {
    const others = listAt(found ?? null, "metadata", "finalizers").filter((one) => one !== holdingFinalizer);
    const finalizers = change === "hold" ? [...others, holdingFinalizer] : others;
    return patch(actor, kind, name, { metadata: { finalizers } });
  }
  if (change !== "delete")
    return "status" in change
      ? writeStatus(actor, kind, name, change.status)
      : patch(actor, kind, name, change.patch);
  if (found !== undefined) world.deletedByHand.add(uidOf(found));
  await client.delete(kinds[kind], keyIn(actor, name, kind));
}

async function kubectl({ kubectl: command, world }: Actor, args: readonly string[]): Promise<string> {
  try {
    await promisify(execFile)(command, [...args, `--namespace=${world.namespace}`]);
    return "done";
  } catch (error) {
    const message = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    return `refused: ${message.trim()}`;
  }
}

/** The ReplicaSets of a Deployment, oldest first; or the one of that name. */
function setsOf({ world }: Actor, name: string): readonly JsonObject[] {
  const owner = world.objects("Deployment").find((one) => nameOf(one) === name);
  const sets = world.objects("ReplicaSet");
  if (owner === undefined) return sets.filter((one) => nameOf(one) === name);
  const revision = (set: JsonObject): number =>
    Number(textAt(set, "metadata", "annotations", "deployment.kubernetes.io/revision") ?? 0);
  return sets.filter((one) => isOwnedBy(one, owner)).sort((a, b) => revision(a) - revision(b));
}

/** The Jobs of a CronJob, oldest first. */
function jobsOf({ world }: Actor, name: string): readonly JsonObject[] {
  const owner = world.objects("CronJob").find((one) => nameOf(one) === name);
  if (owner === undefined) return [];
  const theirs = world.objects("Job").filter((one) => isOwnedBy(one, owner));
  return theirs.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

async function changeJob(
  actor: Actor,
  { of, which, change }: Extract<Action, { do: "job" }>,
): Promise<string> {
  const jobs = jobsOf(actor, of);
  const job = which === "newest" ? jobs.at(-1) : jobs[0];
  if (job === undefined) return "there is none";
  if (change === "delete")
    await actor.client.delete(kinds.Job, keyIn(actor, nameOf(job)), { propagationPolicy: "Background" });
  else await apply(actor, "Job", nameOf(job), change);
  return "done";
}

async function changePods(
  actor: Actor,
  { of, count, change, active }: Extract<Action, { do: "pods" }>,
): Promise<string> {
  const { world, naming } = actor;
  const others = [...world.objects("Job"), ...world.objects("DaemonSet")];
  const owners = [...setsOf(actor, of), ...jobsOf(actor, of), ...others.filter((one) => nameOf(one) === of)];
  const theirs = new Set(
    world
      .objects("Pod")
      .filter((pod) => owners.some((owner) => isOwnedBy(pod, owner)) && (active !== true || isActive(pod)))
      .map(nameOf),
  );
  const chosen = shownPods(world, naming)
    .filter(({ name }) => theirs.has(name))
    .slice(0, count);
  await Promise.all(chosen.map(({ name }) => apply(actor, "Pod", name, change)));
  return `done to ${chosen.length}`;
}

/** The ControllerRevisions, by their numbers. */
const revisionsOf = ({ world }: Actor): readonly JsonObject[] =>
  [...world.objects("ControllerRevision")].sort(
    (a, b) => (numberAt(a, "revision") ?? 0) - (numberAt(b, "revision") ?? 0),
  );

/** Longer than the controllers' watches of nodes are behind. */
const noticeMs = 700;

/**
 * kube-controller-manager counts the pods of nodes again only when a DaemonSet or its pods change, or the node needs a pod
 * or must lose one. So each DaemonSet is touched once the change is known.
 */
async function changeNode(
  actor: Actor,
  { name: short, change }: Extract<Action, { do: "node" }>,
): Promise<void> {
  const { world, client, naming } = actor;
  const name = `${world.namespace}-${short}`;
  if (change === "add") {
    const metadata = { name, labels: { [runLabel]: world.namespace } };
    // Its pods get there nevertheless, and no others: sequences of other families may be under way.
    await untilSeen(actor, await client.create(kinds.Node, { metadata, spec: { unschedulable: true } }));
  } else await apply(actor, "Node", name, change);
  if (change === "delete")
    for (const pod of world.objects("Pod").filter((one) => textAt(one, "spec", "nodeName") === name)) {
      world.deletedByHand.add(uidOf(pod));
      await client.delete(kinds.Pod, keyIn(actor, nameOf(pod)), { gracePeriodSeconds: 0 });
    }
  await delay(noticeMs);
  const touched = { metadata: { annotations: { touched: String(naming.begun.length) } } };
  for (const one of world.objects("DaemonSet")) await patch(actor, "DaemonSet", nameOf(one), touched);
}

/** Its nodes, once their pods are on their way. */
export async function removeNodes({ client, world }: Actor): Promise<void> {
  for (const node of world.objects("Node"))
    await client.delete(kinds.Node, objectKey({ name: nameOf(node) }));
}

async function setQuota(actor: Actor, pods: number | undefined): Promise<void> {
  const { client, world } = actor;
  const key = keyIn(actor, quotaName);
  await client.delete(quotas, key);
  if (pods === undefined) return;
  await client.create(quotas, {
    metadata: { name: quotaName, namespace: world.namespace },
    spec: { hard: { pods: String(pods) } },
  });
  // It holds once its controller has counted.
  for (;;) {
    const quota: unknown = await client.get(quotas, key);
    if (isJson(quota) && isObject(quota) && field(quota, "status", "used", "pods") !== undefined) return;
    await delay(50);
  }
}

/** Longer than any set takes to be made that is made at all: not for a paused Deployment, nor while old pods linger. */
const setPatienceMs = 5_000;

/** The Deployment's controller has seen its spec, and there is a ReplicaSet for it. */
function isTakenUp(actor: Actor, name: string): boolean {
  const deployment = actor.world.objects("Deployment").find((one) => nameOf(one) === name) ?? null;
  const template = templateOf(deployment);
  return !isBehind(deployment) && setsOf(actor, name).some((set) => templateOf(set) === template);
}

async function rollOver(actor: Actor, name: string, first: JsonObject, then: JsonObject): Promise<void> {
  const overtake = (): void => {
    for (const set of setsOf(actor, name)) actor.naming.overtaken.add(nameOf(set));
  };
  overtake();
  await patch(actor, "Deployment", name, { spec: first });
  for (const begun = Date.now(); !isTakenUp(actor, name) && Date.now() - begun < setPatienceMs;)
    await delay(10);
  overtake();
  await patch(actor, "Deployment", name, { spec: then });
}

/** Without a policy, each kind's own. */
async function clear(actor: Actor): Promise<void> {
  for (const kind of actor.kinds.filter((one) => one !== "Node"))
    await Promise.all(actor.world.objects(kind).map((one) => apply(actor, kind, nameOf(one), "delete")));
}

async function carryOut(actor: Actor, action: Action): Promise<string> {
  switch (action.do) {
    case "create":
      await create(actor, action.object);
      return "done";
    case "createAll":
      await createAll(actor, action.objects);
      return "done";
    case "namedPods":
      await Promise.all(action.names.map((name) => apply(actor, "Pod", name, action.change)));
      return "done";
    case "slice":
      return changeSlice(actor, action.of, action.change);
    case "patch":
      await patch(actor, action.kind, action.name, action.patch);
      return "done";
    case "rollOver":
      await rollOver(actor, action.name, action.first, action.then);
      return "done";
    case "kubectl":
      return kubectl(actor, action.args);
    case "pods":
      return changePods(actor, action);
    case "replicaSet": {
      const sets = setsOf(actor, action.of);
      const set = action.which === "newest" ? sets.at(-1) : sets[0];
      if (set === undefined) return "there is none";
      await apply(actor, "ReplicaSet", nameOf(set), action.change);
      return "done";
    }
    case "job":
      return changeJob(actor, action);
    case "minute":
      return "done";
    case "delete": {
      const options = { propagationPolicy: action.policy };
      const was = await actor.client.delete(kinds[action.kind], keyIn(actor, action.name), options);
      return was ? "done" : "there is none";
    }
    case "node":
      await changeNode(actor, action);
      return "done";
    case "revision": {
      const [first, ...others] = revisionsOf(actor);
      const revision = action.which === "oldest" ? first : (others.at(-1) ?? first);
      if (revision === undefined) return "there is none";
      await apply(actor, "ControllerRevision", nameOf(revision), action.change);
      return "done";
    }
    case "clear":
      await clear(actor);
      return "done";
    case "quota":
      await setQuota(actor, action.pods);
      return "done";
  }
}

/** So that the namespace can be emptied. */
export async function letGo(actor: Actor): Promise<void> {
  const held = actor.world.objects("Pod").filter((pod) => field(pod, "metadata", "finalizers") !== undefined);
  const free = { metadata: { finalizers: null } };
  await Promise.all(held.map((pod) => patch(actor, "Pod", nameOf(pod), free).catch(() => undefined)));
}

/** What became of it, in words that two runs can share. */
export async function perform(actor: Actor, action: Action): Promise<string> {
  try {
    return await carryOut(actor, action);
  } catch (error) {
    if (isApiError(error)) return `refused: ${error.status} ${error.reason} ${error.serverMessage}`;
    throw error;
  }
}
