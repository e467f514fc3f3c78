import { type ObjectKey, splitObjectKey } from "@drover/controller";
import type { WakeClass } from "../work-queue.ts";
import type { Entry, Queue } from "./ledger-data.ts";
import { accountLimit, controllerLimit, opensAt, spend } from "./limits.ts";
import type { Moment } from "./moment.ts";
import { mostShut } from "../script-bounds.ts";
import { above, put, sortedSet, take, upTo } from "./sorted-set.ts";

/*
 * Whose turn it is.
 *
 * A ready key stands in the queue of its class and lane; a lane is a namespace, or the part of one that works on a named
 * account. The queues of a class take turns, one key each. A queue that is found empty when its turn comes drops out;
 * one whose account or namespace is closed is shut, as a whole, until it opens.
 */

/** How many shut queues are opened by one call. */
const openedAtOnce = 200;

/** Whether a key of this namespace may not start; `""` holds the keys of cluster-scoped kinds. */
const namespacePaused = ({ data }: Moment, namespace: string): boolean =>
  data.paused.namespaces.has(namespace);

/** An operator paused the object itself, or its annotation does. */
export const isObjectPaused = (
  { data }: Moment,
  { key, pausedSince }: Pick<Entry, "key" | "pausedSince">,
): boolean => pausedSince !== undefined || data.paused.objects.has(key);

export const isPaused = (moment: Moment, entry: Pick<Entry, "key" | "pausedSince">): boolean =>
  moment.data.paused.controller !== undefined ||
  isObjectPaused(moment, entry) ||
  namespacePaused(moment, splitObjectKey(entry.key).namespace ?? "");

/** Lets a ready key wait for its turn behind those that are ready for longer. */
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

/** Queues whose time has come take turns again. */
export function openShutQueues({ data, now }: Moment): void {
  for (const name of upTo(data.shut, now, openedAtOnce)) {
    take(data.shut, name);
    const queue = data.queues.get(name);
    if (queue) data.turns[queue.class].add(name);
  }
}

/** Takes the key whose turn it is out of its queue. */
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

/** Of every eight bells one looks for a resync first and one for a listing: what waits is never starved. */
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

/** The queue of a class whose turn it is, which then goes behind the others. */
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

/** From when on keys of this queue may start; `Infinity` where somebody has to resume them. */
function queueOpens(moment: Moment, { namespace, account }: Queue): number {
  if (namespacePaused(moment, namespace)) return Infinity;
  return account === "" ? 0 : opensAt(moment, accountLimit(account));
}

/** Queues of a namespace that was resumed open now. */
export function openNamespace({ data, now }: Moment, namespace: string): void {
  for (const name of above(data.shut, Number.MAX_VALUE).slice(0, mostShut)) {
    if (data.queues.get(name)?.namespace === namespace) put(data.shut, name, now);
  }
}
