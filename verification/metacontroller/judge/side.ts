// One contestant in one namespace: the actions of a history, and what comes of them.
import { objectKey } from "@drover/controller";
import { builtin, type KubeClient, type KubeObject, listAll, isControlledBy } from "@drover/kube";
import { setTimeout as delay } from "node:timers/promises";
import { isObject, numberAt, objectAt } from "../../../packages/sandbox/src/json.ts";
import type { Contestant } from "../contestants/contestant.ts";
import { type HookCall, type HookCalls, isSame, versionsOf } from "../contestants/hook-calls.ts";
import { type Action, childId, childKinds, isChildKind, partsOf } from "../histories/actions.ts";
import { edited } from "../histories/edits.ts";
import type { Expected } from "../histories/expected.ts";
import { asJson, type State, stateOf } from "./canonical.ts";
import { lackingIn } from "./lacking.ts";
import type { Watched } from "./watch.ts";

export interface Side {
  readonly contestant: Contestant;
  readonly namespace: string;
  /** The user whose edits are by hand. */
  readonly client: KubeClient;
  readonly watched: Watched;
  readonly calls: HookCalls;
}

const parentName = "parent";
/** The controller of objects that take names of children. */
const otherOwner = "other-owner";

/** Longer than any contestant needs. */
const patience = 60_000;
const mostRounds = 20;
const pollInterval = 100;

const keyIn = ({ namespace }: Side, name: string) => objectKey({ namespace, name });

export async function openSide(side: Omit<Side, "namespace">, namespace: string): Promise<Side> {
  const { client } = side;
  await client.create(builtin.namespace, { metadata: { name: namespace } });
  await client.create(builtin.configMap, { metadata: { namespace, name: otherOwner } });
  return { ...side, namespace };
}

/** Carries out an action; a restart is only what happens meanwhile. */
export async function perform(side: Side, action: Action): Promise<void> {
  const { client, contestant, namespace } = side;
  const parent = [contestant.parents, keyIn(side, parentName)] as const;
  switch (action.do) {
    case "create": {
      const metadata = { namespace, name: parentName };
      await client.create(contestant.parents, { metadata, spec: { touched: 0, children: action.children } });
      return;
    }
    case "declare":
      await client.patch(...parent, { type: "merge", body: { spec: { children: action.children } } });
      return;
    case "delete":
      await client.delete(...parent, { propagationPolicy: "Background" });
      return;
    case "deleteChild":
    case "free": {
      const { kind, name } = partsOf(action.child);
      await client.delete(childKinds[kind], keyIn(side, name), { propagationPolicy: "Background" });
      if (action.do === "free") await touch(side);
      return;
    }
    case "edit":
      return edit(side, action);
    case "take":
      return take(side, action);
    case "restart":
      return perform(side, action.meanwhile);
  }
}

/** As `kubectl edit`. */
async function edit(side: Side, { child, path, value }: Extract<Action, { do: "edit" }>): Promise<void> {
  const { kind, name } = partsOf(child);
  const live = await side.client.get(childKinds[kind], keyIn(side, name));
  if (live === undefined) throw new Error(`${child} does not exist.`);
  const { metadata } = live;
  const changed = edited(asJson(live), path, value);
  if (!isObject(changed)) throw new Error(`${child} would be nothing.`);
  await side.client.replace(childKinds[kind], {
    ...changed,
    metadata: {
      ...objectAt(changed, "metadata"),
      namespace: side.namespace,
      name,
      resourceVersion: metadata.resourceVersion,
    },
  });
}

async function take(side: Side, { object, owned }: Extract<Action, { do: "take" }>): Promise<void> {
  const { client, namespace } = side;
  const { kind, name } = partsOf(childId(object));
  const owner = await client.get(builtin.configMap, keyIn(side, otherOwner));
  if (owner === undefined) throw new Error(`${otherOwner} does not exist.`);
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: otherOwner, uid: owner.metadata.uid };
  const metadata = {
    ...objectAt(object, "metadata"),
    namespace,
    name,
    ...(owned && { ownerReferences: [{ ...reference, controller: true }] }),
  };
  await client.create(childKinds[kind], { ...object, metadata });
}

/** Changes the parent, so that its controller looks at it. Undefined if there is no parent. */
async function touch({ client, contestant, ...side }: Side): Promise<KubeObject | undefined> {
  const key = objectKey({ namespace: side.namespace, name: parentName });
  const parent = await client.get(contestant.parents, key);
  if (parent === undefined) return undefined;
  const touched = (numberAt(asJson(parent), "spec", "touched") ?? 0) + 1;
  return client.patch(contestant.parents, key, { type: "merge", body: { spec: { touched } } });
}

/** Touches the parent. Resolves with the call of the hook for that, if there is one. */
async function called(side: Side): Promise<HookCall | undefined> {
  const parent = await touch(side);
  if (parent === undefined) return undefined;
  const { uid, generation = 0 } = parent.metadata;
  return side.calls.callFor(uid, generation, patience);
}

const children = async ({ client, namespace }: Side): Promise<readonly KubeObject[]> =>
  (await Promise.all(Object.values(childKinds).map((ref) => listAll(client, ref, { namespace })))).flat();

/**
 * Waits until the contestant has settled: everything is as declared, and two calls of the hook in a row have observed
 * the children as the API server lists them after that. A second call begins after the run of the first one: that run
 * has changed nothing then.
 *
 * @returns what is missing, if it has not settled.
 */
export async function settle(side: Side, expected: Expected): Promise<string | undefined> {
  const { watched, contestant, namespace } = side;
  const lacking = (): string | undefined =>
    lackingIn(watched.in(namespace), expected, contestant.parents.group);
  if (!(await watched.until(() => lacking() === undefined, patience)))
    return lacking() ?? "it changes again and again";
  if (!expected.parent) return settleWithoutParent(side, expected);
  for (let round = 0; round < mostRounds; round += 1) {
    const first = await called(side);
    const second = await called(side);
    if (first === undefined || second === undefined) return "the hook is not called";
    const uid = second.parentUid;
    const owned = (await children(side)).filter(({ metadata }) => isControlledBy(metadata, { uid }));
    const now = versionsOf(owned);
    if (isSame(first.observed, now) && isSame(second.observed, now) && lacking() === undefined)
      return undefined;
  }
  return lacking() ?? "it changes again and again";
}

/**
 * Waits until the API server lists no child. A run that had read the parent may make a child once more while the garbage
 * collector deletes them, and the watch may not show that yet; the collector deletes this child, too.
 */
async function settleWithoutParent(side: Side, expected: Expected): Promise<string | undefined> {
  const end = performance.now() + patience;
  for (;;) {
    const lacking = lackingIn(await children(side), expected, side.contestant.parents.group);
    if (lacking === undefined || performance.now() > end) return lacking;
    await delay(pollInterval);
  }
}

/** The state of the namespace, as the API server lists it. */
export async function observe(side: Side): Promise<State> {
  const parent = await side.client.get(side.contestant.parents, keyIn(side, parentName));
  const objects = (await children(side)).filter(
    ({ kind, metadata }) => isChildKind(kind) && metadata.name !== otherOwner,
  );
  return stateOf(objects, parent === undefined ? [] : [parent.metadata.uid]);
}
