import type { Kind } from "./watched.ts";

/**
 * Which function something belongs to: its queues, its Redis user, its hooks.
 *
 * A function that a ReconcileFunction registers is that object: namespace, name and uid. An object that is made again under
 * the same name has another uid, so it is another function and inherits nothing. A program that no ReconcileFunction
 * registers (registered by a file, embedded, in a test) names itself: it has neither namespace nor uid.
 */
export interface FunctionIdentity {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** The name of a work queue: parts with slashes between. Only `queueOf` and `namesQueueOf` make one. */
export type QueueName = string & { readonly __brand: "QueueName" };

/**
 * The queue of a function's objects: `<namespace>/<name>/<uid>`, or `-/<name>/-` for a program that names itself.
 *
 * Two identities never have one queue, whatever text they consist of: no part contains a slash, and no part is a dash.
 */
export const queueOf = ({ namespace, name, uid }: FunctionIdentity): QueueName =>
  [namespace, name, uid].map(partOf).join("/") as QueueName;

/**
 * The queue of the jobs that ask a function's code which keys an object of a watched kind concerns:
 * `<queue>/names/<plural>.<group>`.
 */
export const namesQueueOf = (
  queue: QueueName,
  { plural, group }: Pick<Kind, "plural" | "group">,
): QueueName => [queue, "names", kindPart(plural, group)].join("/") as QueueName;

/** The queue of the function whose queue this is: without what a names queue has besides. Undefined for other text. */
export function functionQueueIn(queue: string): QueueName | undefined {
  const parts = queue.split("/");
  return parts.length === 3 || (parts.length === 5 && parts[3] === "names")
    ? (parts.slice(0, 3).join("/") as QueueName)
    : undefined;
}

/** Whether a queue is that of a program that names itself: no ReconcileFunction says how long it is needed. */
export const isSelfNamed = (queue: string): boolean => queue.startsWith(`${none}/`);

/** The namespace of the function whose queue this is. Undefined for a program that names itself, and for other text. */
export const namespaceOfQueue = (queue: string): string | undefined =>
  functionQueueIn(queue) === undefined || isSelfNamed(queue) ? undefined : queue.split("/")[0];

/**
 * A queue as metrics and people name it, without the uid: `<namespace>/<name>`, or `<name>` for a program that names
 * itself; with `/names/<plural>.<group>` for a names queue.
 */
export function shownQueue(queue: string): string {
  const [namespace, name, , ...more] = queue.split("/");
  if (name === undefined) return queue;
  return [...(namespace === none ? [] : [namespace]), name, ...more].join("/");
}

/**
 * `<namespace>/<function>/<hook>`: events of the hook are sent to `/hooks/` and this. A function that is made again under the
 * same name has the hooks' addresses of the one before it.
 */
export const hookAddressOf = ({ namespace, name }: FunctionIdentity, hook: string): string =>
  [namespace, name, hook].map(partOf).join("/");

/** A part that an identity does not have. No part that it has is written so. */
const none = "-";

/**
 * Text as one part: what Kubernetes' names consist of stays; everything else is escaped by its code unit, and so is a dot or
 * a dash at the beginning, where no name of Kubernetes has one.
 *
 * So a part contains nothing that separates parts or that a URL, a Redis key's hash tag or a Redis pattern gives a
 * meaning to, and different texts are different parts.
 */
function partOf(text: string | undefined): string {
  if (text === undefined) return none;
  return text === "" ? "_" : text.replace(/[^a-z0-9.-]|^[.-]/g, escaped);
}

/** A plural has no dot, so the first one is where the group begins. */
const kindPart = (plural: string, group: string): string => {
  const first = partOf(plural).replaceAll(".", escaped);
  return group === "" ? first : `${first}.${partOf(group)}`;
};

const escaped = (character: string): string => `_${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
