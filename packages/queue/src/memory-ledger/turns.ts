import { type ObjectKey, splitObjectKey } from "@drover/controller";
import type { WakeClass } from "../work-queue.ts";
import type { Entry, Queue } from "./ledger-data.ts";
import { accountLimit, controllerLimit, opensAt, spend } from "./limits.ts";
import type { Moment } from "./moment.ts";
import { mostShut } from "../script-bounds.ts";
import { above, put, sortedSet, take, upTo } from "./sorted-set.ts";

/*
 * The order in which ready keys run.
 *
 * A ready key is in the queue of its class and flow (`lane` in the code). A flow is a namespace, or the part of it that
 * uses one named account. The queues of a class take turns, one key each. A queue that is empty at its turn is removed.
 * If the account of a queue is throttled or its namespace is paused, the queue is skipped (`shut`) until that ends.
 */

/** Throttled queues that one call opens. */
const openedAtOnce = 200;

/** True if the keys of this namespace are paused; `""` is the namespace of cluster-scoped objects. */
const namespacePaused = ({ data }: Moment, namespace: string): boolean =>
  data.paused.namespaces.has(namespace);

/** True if an operator or an annotation paused the object itself. */
export const isObjectPaused = (
  { data }: Moment,
  { key, pausedSince }: Pick<Entry, "key" | "pausedSince">,
): boolean => pausedSince !== undefined || data.paused.objects.has(key);

export const isPaused = (moment: Moment, entry: Pick<Entry, "key" | "pausedSince">): boolean =>
  moment.data.paused.controller !== undefined ||
  isObjectPaused(moment, entry) ||
  namespacePaused(moment, splitObjectKey(entry.key).namespace ?? "");

/** Adds a ready key to its queue, after the keys that have been ready for longer. */
export function enqueue(moment: Moment, entry: Entry, since: number): void {
  const { data } = moment;
  const queue = queueOf(moment, entry);
  entry.queue = queue.name;
  put(queue.keys, entry.key, since);
  if (!data.shut.scores.has(queue.name)) data.turns[queue.class].add(queue.name);
}

export function dequeue({ data }: Moment, entry: Entry): void {
  const queue = entry.queue === undefined ? undefined : data.queues.get(entry.queue);
  if (queue) take(queue.keys, entry.key);
  entry.queue = undefined;
}

function queueOf({ data }: Moment, entry: Entry): Queue {
  const { class: wakeClass = "change", account = "" } = entry;
  const { namespace = "" } = splitObjectKey(entry.key);
  const name = `${wakeClass}:${namespace}/${account}`;
  const queue = data.queues.get(name) ?? { name, class: wakeClass, namespace, account, keys: sortedSet() };
  data.queues.set(name, queue);
  return queue;
}

/** Lets throttled queues take turns again once they open. */
export function openShutQueues({ data, now }: Moment): void {
  for (const name of upTo(data.shut, now, openedAtOnce)) {
    take(data.shut, name);
    const queue = data.queues.get(name);
    if (queue) data.turns[queue.class].add(name);
  }
}

/** Removes the next key from its queue and returns it. */
export function nextInTurn(moment: Moment): ObjectKey | undefined {
  for (const wakeClass of classesFor(moment.data.bells)) {
    const queue = openQueue(moment, wakeClass);
    const key = queue?.keys.members[0];
    if (!queue || key === undefined) continue;
    take(queue.keys, key);
    spend(moment, controllerLimit);
    if (queue.account !== "") spend(moment, accountLimit(queue.account));
    return key;
  }
  return undefined;
}

/**
 * The classes in order. Of every eight dispatches one starts with resyncs and one with listings, so that no class
 * starves.
 */
function classesFor(bells: number): readonly WakeClass[] {
  switch (bells % 8) {
    case 0:
      return ["resync", "listing", "change"];
    case 4:
      return ["listing", "change", "resync"];
    default:
      return ["change", "listing", "resync"];
  }
}

/** The next queue of a class; it then moves behind the others. */
function openQueue(moment: Moment, wakeClass: WakeClass): Queue | undefined {
  const { data, now } = moment;
  const turns = data.turns[wakeClass];
  for (const name of turns) {
    if (moment.left.turns <= 0) return undefined;
    moment.left.turns -= 1;
    turns.delete(name);
    const queue = data.queues.get(name);
    if (queue && queue.keys.members.length > 0) {
      const opens = queueOpens(moment, queue);
      if (opens <= now) {
        turns.add(name);
        return queue;
      }
      put(data.shut, name, opens);
    } else {
      data.queues.delete(name);
    }
  }
  return undefined;
}

/** The time from which keys of this queue may run; `Infinity` while its namespace is paused. */
function queueOpens(moment: Moment, { namespace, account }: Queue): number {
  if (namespacePaused(moment, namespace)) return Infinity;
  return account === "" ? 0 : opensAt(moment, accountLimit(account));
}

/** Opens the queues of a namespace that was resumed. */
export function openNamespace({ data, now }: Moment, namespace: string): void {
  for (const name of above(data.shut, Number.MAX_VALUE).slice(0, mostShut)) {
    if (data.queues.get(name)?.namespace === namespace) put(data.shut, name, now);
  }
}
