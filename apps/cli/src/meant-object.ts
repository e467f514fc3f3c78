import { objectKeyIn, type ObjectKey, type QueueName, queueOf, silentLog } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { hasWorkQueue, openWorkQueue, type RedisConnection, type WorkQueue } from "@drover/queue";
import { CommandError } from "./command-error.ts";
import { crdsNamed } from "./crds-named.ts";
import { type DeployedFunction, deployedFunctions } from "./deployed-functions.ts";
import { orEmbedded } from "./embedded-function.ts";
import { elsewhere } from "./redis-option.ts";

/** The servers that a command asks. */
export interface Servers {
  readonly client: KubeClient;
  readonly redis: RedisConnection;
}

/** The function that a person means. */
export interface MeantFunction {
  /** `plural.group`, a plural, a kind, or a function: `name` or `namespace/name`; of one with a bridge in its process the first. */
  readonly word: string;
  /** Of the objects, to choose among several functions of one kind. */
  readonly namespace: string;
  /** The command as it would name this function. */
  readonly example: (fn: string) => string;
}

/** The object that a person means. */
export interface MeantObject {
  /** As {@link MeantFunction.word}. */
  readonly kind: string;
  /** `name` or `namespace/name`. */
  readonly name: string;
  /** For a name without one. */
  readonly namespace: string;
  /** The command's own name. */
  readonly command: string;
}

/** A function whose spec can be read. */
export type ReadableFunction = DeployedFunction & { readonly spec: NonNullable<DeployedFunction["spec"]> };

/** @throws CommandError when there is no such function, or several. */
export async function functionMeant(servers: Servers, meant: MeantFunction): Promise<ReadableFunction> {
  const fn = await functionNamed(servers, meant);
  if (isReadable(fn)) return fn;
  throw new CommandError(`The spec of ${fn.key} cannot be read: deploy it again, or see its status.`);
}

/** By the words of a ReconcileFunction, else by those that only the kind's CRD has: its singular and its short names. */
async function functionNamed(servers: Servers, meant: MeantFunction): Promise<DeployedFunction> {
  // Asked for once; where Drover is not installed, there may still be one with a bridge in its process.
  const functions = deployedFunctions(servers.client, undefined);
  const look = (word: string): Promise<DeployedFunction> =>
    functions.then((all) => functionFor({ ...meant, word }, all)).catch(orEmbedded(servers, word));
  return look(meant.word).catch(async (error: unknown) => {
    if (!(error instanceof UnknownKindError)) throw error;
    const crds = await crdsNamed(servers.client, meant.word);
    const found = await Promise.all(
      crds.map(({ metadata: { name } }) =>
        look(name).catch((none: unknown) => {
          if (none instanceof UnknownKindError) return undefined;
          throw none;
        }),
      ),
    );
    const [only, ...others] = found.filter((one) => one !== undefined);
    if (only === undefined) throw error;
    if (others.length > 0) throw severalFor(meant, [only, ...others]);
    return only;
  });
}

/** No function has that word for its kind. */
class UnknownKindError extends CommandError {
  override readonly name = "UnknownKindError";
}

const severalFor = (
  { word, example }: MeantFunction,
  functions: readonly [DeployedFunction, ...DeployedFunction[]],
): CommandError =>
  new CommandError(
    `Several functions look after ${JSON.stringify(word)}: ${functions.map(({ key }) => key).join(", ")}. Write: ${example(functions[0].key)}`,
  );

export const isReadable = (fn: DeployedFunction): fn is ReadableFunction => fn.spec !== undefined;

/** @throws CommandError when no object can be meant. */
export async function objectMeant(
  servers: Servers,
  meant: MeantObject,
): Promise<{ readonly fn: ReadableFunction; readonly key: ObjectKey }> {
  const { kind: word, command } = meant;
  const example = (fn: string): string => `drover ${command} ${fn} NAME`;
  const fn = await functionMeant(servers, { word, namespace: namespaceOf(meant), example });
  return { fn, key: keyMeant(meant, fn.spec.for.scope) };
}

/** Whether the queue of a function is in this Redis. To open one would make it there. */
export const hasQueue = (redis: RedisConnection, { identity }: DeployedFunction): Promise<boolean> =>
  hasWorkQueue(redis, queueOf(identity));

/**
 * Does something with a function's queue.
 * @throws CommandError where it is not in this Redis.
 */
export async function withQueue<T>(
  redis: RedisConnection,
  fn: DeployedFunction,
  use: (queue: WorkQueue) => Promise<T>,
): Promise<T> {
  if (!(await hasQueue(redis, fn))) throw new CommandError(elsewhere([fn.key]));
  return whileOpen(redis, queueOf(fn.identity), use);
}

/** Opens a queue, which looks after nothing in it, for as long as it is used. One that is not there would be made. */
export async function whileOpen<T>(
  redis: RedisConnection,
  controller: QueueName,
  use: (queue: WorkQueue) => Promise<T>,
): Promise<T> {
  const queue = openWorkQueue({ redis, controller, log: silentLog, upkeep: "none" });
  try {
    return await use(queue);
  } finally {
    await queue.close();
  }
}

/**
 * `KIND/NAME`, as kubectl has it, or `KIND NAME`.
 * @param takesScopes whether the command has --in and --all.
 * @throws CommandError when no object is named.
 */
export function objectWords(
  first: string,
  second: string | undefined,
  command: string,
  takesScopes = false,
): readonly [kind: string, name: string] {
  if (second !== undefined) return [first, second];
  const slash = first.indexOf("/");
  if (slash > 0 && slash < first.length - 1) return [first.slice(0, slash), first.slice(slash + 1)];
  const scopes = takesScopes ? ", or give --in NAMESPACE or --all" : "";
  throw new CommandError(
    `Which object? Write: drover ${command} ${first.replace(/\/$/, "")} NAMESPACE/NAME${scopes}`,
  );
}

function functionFor(meant: MeantFunction, all: readonly DeployedFunction[]): DeployedFunction {
  const { word, namespace } = meant;
  const lower = word.toLowerCase();
  const names = ({ key, name, spec }: DeployedFunction): readonly string[] =>
    spec === undefined
      ? [key, name]
      : [key, name, `${spec.for.plural}.${spec.for.group}`, spec.for.plural, spec.for.kind.toLowerCase()];
  const named = all.filter((one) => names(one).includes(lower));
  const exact = named.filter(({ key, name }) => [key, name].includes(lower));
  const found = exact.length > 0 ? exact : named;
  const covering = found.filter(({ spec }) => spec?.for.namespaces?.includes(namespace) ?? true);
  const [only, ...others] = covering.length > 0 ? covering : found;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) {
    const known = all.map(({ key }) => key).join(", ");
    throw new UnknownKindError(
      `No function looks after ${JSON.stringify(word)}. ${known === "" ? "There is none at all" : `There are: ${known}`}.`,
    );
  }
  throw severalFor(meant, [only, ...others]);
}

/** The namespace of the object that is meant, where its kind has namespaces. */
const namespaceOf = ({ name, namespace }: MeantObject): string =>
  name.includes("/") ? name.slice(0, name.indexOf("/")) : namespace;

/** @throws CommandError where that is the name of no object. */
export function keyMeant({ name, namespace }: MeantObject, scope: "Namespaced" | "Cluster"): ObjectKey {
  const text = scope === "Cluster" || name.includes("/") ? name : `${namespace}/${name}`;
  const key = objectKeyIn(text);
  if (key !== undefined) return key;
  throw new CommandError(`${JSON.stringify(name)} is no object's name. Give name, or namespace/name.`);
}
