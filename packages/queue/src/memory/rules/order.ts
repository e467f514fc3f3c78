import { type ObjectKey, splitObjectKey } from "@drover/controller";
import type { WakeClass } from "../../work-queue/work-queue.ts";
import type { KeyEntry, FlowQueue } from "./ledger-data.ts";
import { accountLimit, controllerLimit, opensAt, spend } from "./limits.ts";
import type { CallContext } from "./call-context.ts";
import { maxThrottledFlowsChecked } from "../../redis/lua/script-bounds.ts";
import { above, put, sortedSet, removeMember, upTo } from "./sorted-set.ts";

/*
 * The order in which ready keys run.
 *
 * A ready key is in the queue of its class and flow. A flow is a namespace, or the part of it
 * that uses one named account. The queues of a class take turns, one key each. A queue that is empty at its turn is
 * removed. If the account of a queue is throttled or its namespace is paused, the queue is skipped (`throttled`) until
 * that ends.
 */

/** Throttled queues that one call opens. */
const maxQueuesReopened = 200;

/** True if the keys of this namespace are paused; `""` is the namespace of cluster-scoped objects. */
const isNamespacePaused = ({ data }: CallContext, namespace: string): boolean =>
  data.paused.namespaces.has(namespace);

/** True if an operator or an annotation paused the object itself. */
export const isObjectPaused = (
  { data }: CallContext,
  { key, pausedSince }: Pick<KeyEntry, "key" | "pausedSince">,
): boolean => pausedSince !== undefined || data.paused.objects.has(key);

export const isPaused = (context: CallContext, entry: Pick<KeyEntry, "key" | "pausedSince">): boolean =>
  context.data.paused.controller !== undefined ||
  isObjectPaused(context, entry) ||
  isNamespacePaused(context, splitObjectKey(entry.key).namespace ?? "");

/** Adds a ready key to its queue, after the keys that have been ready for longer. */
export function enqueue(context: CallContext, entry: KeyEntry, since: number): void {
  const { data } = context;
  const queue = flowQueueOf(context, entry);
  entry.queue = queue.name;
  put(queue.keys, entry.key, since);
  if (!data.throttled.scores.has(queue.name)) data.turns[queue.class].add(queue.name);
}

export function dequeue({ data }: CallContext, entry: KeyEntry): void {
  const queue = entry.queue === undefined ? undefined : data.queues.get(entry.queue);
  if (queue) removeMember(queue.keys, entry.key);
  entry.queue = undefined;
}

function flowQueueOf({ data }: CallContext, entry: KeyEntry): FlowQueue {
  const { class: wakeClass = "change", account = "" } = entry;
  const { namespace = "" } = splitObjectKey(entry.key);
  const name = `${wakeClass}:${namespace}/${account}`;
  const queue = data.queues.get(name) ?? { name, class: wakeClass, namespace, account, keys: sortedSet() };
  data.queues.set(name, queue);
  return queue;
}

/** Lets throttled queues take turns again once they open. */
export function reopenThrottledQueues({ data, now }: CallContext): void {
  for (const name of upTo(data.throttled, now, maxQueuesReopened)) {
    removeMember(data.throttled, name);
    const queue = data.queues.get(name);
    if (queue) data.turns[queue.class].add(name);
  }
}

/** Removes the next key from its queue and returns it. */
export function takeNextKey(context: CallContext): ObjectKey | undefined {
  for (const wakeClass of classesFor(context.data.dispatchCount)) {
    const queue = nextOpenQueue(context, wakeClass);
    const key = queue?.keys.members[0];
    if (!queue || key === undefined) continue;
    removeMember(queue.keys, key);
    spend(context, controllerLimit);
    if (queue.account !== "") spend(context, accountLimit(queue.account));
    return key;
  }
  return undefined;
}

/**
 * The classes in order. Of every eight dispatches one starts with resyncs and one with listings, so that no class
 * starves.
 */
function classesFor(dispatchCount: number): readonly WakeClass[] {
  switch (dispatchCount % 8) {
    case 0:
      return ["resync", "listing", "change"];
    case 4:
      return ["listing", "change", "resync"];
    default:
      return ["change", "listing", "resync"];
  }
}

/** The next queue of a class; it then moves behind the others. */
function nextOpenQueue(context: CallContext, wakeClass: WakeClass): FlowQueue | undefined {
  const { data, now } = context;
  const turns = data.turns[wakeClass];
  for (const name of turns) {
    if (context.budget.flows <= 0) return undefined;
    context.budget.flows -= 1;
    turns.delete(name);
    const queue = data.queues.get(name);
    if (queue && queue.keys.members.length > 0) {
      const opens = queueOpensAt(context, queue);
      if (opens <= now) {
        turns.add(name);
        return queue;
      }
      put(data.throttled, name, opens);
    } else {
      data.queues.delete(name);
    }
  }
  return undefined;
}

/** The time from which keys of this queue may run; `Infinity` while its namespace is paused. */
function queueOpensAt(context: CallContext, { namespace, account }: FlowQueue): number {
  if (isNamespacePaused(context, namespace)) return Infinity;
  return account === "" ? 0 : opensAt(context, accountLimit(account));
}

/** Opens the queues of a namespace that was resumed. */
export function reopenNamespace({ data, now }: CallContext, namespace: string): void {
  for (const name of above(data.throttled, Number.MAX_VALUE).slice(0, maxThrottledFlowsChecked)) {
    if (data.queues.get(name)?.namespace === namespace) put(data.throttled, name, now);
  }
}
