import type { Kind } from "../definition/watched-kinds.ts";

/**
 * Identifies a function, as the owner of its queues, its Redis user and its hooks.
 *
 * A function that a ReconcileFunction registers has that object's identity: namespace, name and uid. An object that is
 * created again under the same name has another uid, so it is another function and inherits nothing. A program without
 * a ReconcileFunction (registered by a file, embedded, in a test) chooses its own name: it has neither namespace nor
 * uid.
 */
export interface FunctionIdentity {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** The name of a work queue: parts, separated by slashes. Only `queueOf` and `namesQueueOf` create one. */
export type QueueName = string & { readonly __brand: "QueueName" };

/**
 * The queue of a function's objects: `<namespace>/<name>/<uid>`, or `-/<name>/-` for a program without a
 * ReconcileFunction.
 *
 * Two identities never share a queue, whatever text they consist of: no part contains a slash, and no part is a dash.
 */
export const queueOf = ({ namespace, name, uid }: FunctionIdentity): QueueName =>
  [namespace, name, uid].map(partOf).join("/") as QueueName;

/**
 * The queue of the jobs that call a function's code to find the keys that an object of a watched kind affects:
 * `<queue>/names/<plural>.<group>`.
 */
export const namesQueueOf = (
  queue: QueueName,
  { plural, group }: Pick<Kind, "plural" | "group">,
): QueueName => [queue, "names", kindPart(plural, group)].join("/") as QueueName;

/** The function's main queue: a names queue without its suffix, or the queue itself. Undefined for other text. */
export function functionQueueOf(queue: string): QueueName | undefined {
  const parts = queue.split("/");
  return parts.length === 3 || (parts.length === 5 && parts[3] === "names")
    ? (parts.slice(0, 3).join("/") as QueueName)
    : undefined;
}

/** True for the queue of a program without a ReconcileFunction: then no object shows how long the queue is needed. */
export const isUnregisteredQueue = (queue: string): boolean => queue.startsWith(`${none}/`);

/** The namespace of a queue's function. Undefined for a program without a ReconcileFunction, and for other text. */
export const namespaceOfQueue = (queue: string): string | undefined =>
  functionQueueOf(queue) === undefined || isUnregisteredQueue(queue) ? undefined : queue.split("/")[0];

/**
 * A queue's name in metrics and for users, without the uid: `<namespace>/<name>`, or `<name>` for a program without a
 * ReconcileFunction; with `/names/<plural>.<group>` for a names queue.
 */
export function queueDisplayName(queue: string): string {
  const [namespace, name, , ...more] = queue.split("/");
  if (name === undefined) return queue;
  return [...(namespace === none ? [] : [namespace]), name, ...more].join("/");
}

/**
 * `<namespace>/<function>/<hook>`: events of the hook are sent to `/hooks/` followed by this. A function that is
 * created again under the same name has the same addresses of its hooks.
 */
export const hookPathOf = ({ namespace, name }: FunctionIdentity, hook: string): string =>
  [namespace, name, hook].map(partOf).join("/");

/** Stands for a part that an identity does not have. No existing part is encoded like this. */
const none = "-";

/**
 * Encodes text as one part. Characters of Kubernetes' names stay; all others are escaped by their code unit, and so is
 * a dot or a dash at the beginning, where Kubernetes' names have none.
 *
 * So a part contains no separator, and no character with a meaning in a URL, in the hash tag of a Redis key or in a
 * Redis pattern; and different texts are different parts.
 */
function partOf(text: string | undefined): string {
  if (text === undefined) return none;
  return text === "" ? "_" : text.replace(/[^a-z0-9.-]|^[.-]/g, escaped);
}

/** Dots in the plural are escaped, so the group begins after the first dot. */
const kindPart = (plural: string, group: string): string => {
  const first = partOf(plural).replaceAll(".", escaped);
  return group === "" ? first : `${first}.${partOf(group)}`;
};

const escaped = (character: string): string => `_${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
