import {
  type Kind,
  tryParseObjectKey,
  type ObjectKey,
  type QueueName,
  queueOf,
  silentLog,
} from "@drover/controller";
import { hasWorkQueue, openWorkQueue, type RedisConnection, type WorkQueue } from "@drover/queue";
import { CommandError } from "./command-error.ts";
import { findCrds } from "./find-crds.ts";
import { type DeployedFunction, deployedFunctions } from "./deployed-functions.ts";
import { orEmbedded } from "./embedded-function.ts";
import { queueNotFoundMessage } from "./redis-option.ts";
import type { CommandServers } from "./command-servers.ts";

/** The function that the command line names. */
export interface FunctionQuery {
  /**
   * A kind (`plural.group`, plural or kind) or a function (`name` or `namespace/name`). For an embedded function:
   * `plural.group`.
   */
  readonly word: string;
  /** The objects' namespace, to choose among several functions of one kind. */
  readonly namespace: string;
  /** Returns the command line that names this function; for error messages. */
  readonly example: (fn: string) => string;
}

/** The object that the command line names. */
export interface ObjectQuery {
  /** As {@link FunctionQuery.word}. */
  readonly kind: string;
  /** `name` or `namespace/name`. */
  readonly name: string;
  /** The namespace if `name` contains none. */
  readonly namespace: string;
  /** The name of the running subcommand. */
  readonly command: string;
}

/** A function with a readable spec. */
export type ReadableFunction = DeployedFunction & { readonly spec: NonNullable<DeployedFunction["spec"]> };

/** @throws CommandError if no function matches, or several do. */
export async function findFunction(servers: CommandServers, query: FunctionQuery): Promise<ReadableFunction> {
  const fn = await findFunctionByName(servers, query);
  if (isReadable(fn)) return fn;
  throw new CommandError(`The spec of ${fn.key} cannot be read: deploy it again, or see its status.`);
}

/**
 * Searches the names in ReconcileFunctions first, then those that only the kind's CRD contains: its singular and short
 * names.
 */
async function findFunctionByName(servers: CommandServers, query: FunctionQuery): Promise<DeployedFunction> {
  // Read once for all words. An error is kept: where Drover is not installed, there may still be an embedded function.
  const functions = deployedFunctions(servers.client, undefined);
  const look = (word: string): Promise<DeployedFunction> =>
    functions.then((all) => matchFunction({ ...query, word }, all)).catch(orEmbedded(servers, word));
  return look(query.word).catch(async (error: unknown) => {
    if (!(error instanceof UnknownKindError)) throw error;
    const crds = await findCrds(servers.client, query.word);
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
    if (others.length > 0) throw severalFor(query, [only, ...others]);
    return only;
  });
}

/** The word matches no function's kind or name. */
class UnknownKindError extends CommandError {
  override readonly name = "UnknownKindError";
}

const severalFor = (
  { word, example }: FunctionQuery,
  functions: readonly [DeployedFunction, ...DeployedFunction[]],
): CommandError =>
  new CommandError(
    `Several functions manage ${JSON.stringify(word)}: ${functions.map(({ key }) => key).join(", ")}. Write: ${example(functions[0].key)}`,
  );

export const isReadable = (fn: DeployedFunction): fn is ReadableFunction => fn.spec !== undefined;

/** @throws CommandError if no function matches, several do, or the name is not valid. The object may be absent. */
export async function findObject(
  servers: CommandServers,
  query: ObjectQuery,
): Promise<{ readonly fn: ReadableFunction; readonly key: ObjectKey }> {
  const { kind: word, command } = query;
  const example = (fn: string): string => `drover ${command} ${fn} NAME`;
  const fn = await findFunction(servers, { word, namespace: namespaceOf(query), example });
  return { fn, key: queriedKey(query, fn.spec.for.scope) };
}

/** The words, in lower case, by which the command line names a kind. */
export const wordsOf = ({
  plural,
  group,
  kind,
}: Pick<Kind, "plural" | "group" | "kind">): readonly string[] => [
  plural,
  kind.toLowerCase(),
  `${plural}.${group}`,
];

/** True if a function's queue exists in this Redis. Opening a queue would create it. */
export const hasQueue = (redis: RedisConnection, { identity }: DeployedFunction): Promise<boolean> =>
  hasWorkQueue(redis, queueOf(identity));

/**
 * Calls `use` with a function's queue, and closes the queue afterwards.
 * @throws CommandError if it is not in this Redis.
 */
export async function withQueue<T>(
  redis: RedisConnection,
  fn: DeployedFunction,
  use: (queue: WorkQueue) => Promise<T>,
): Promise<T> {
  if (!(await hasQueue(redis, fn))) throw new CommandError(queueNotFoundMessage([fn.key]));
  return whileOpen(redis, queueOf(fn.identity), use);
}

/** Opens a queue without upkeep, and closes it when `use` has ended. A queue that does not exist would be created. */
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
 * Splits `KIND/NAME`, as in kubectl, or takes `KIND NAME`.
 * @param takesScopes true if the command has --in and --all.
 * @throws CommandError if no object is named.
 */
export function parseObjectArguments(
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

function matchFunction(query: FunctionQuery, all: readonly DeployedFunction[]): DeployedFunction {
  const { word, namespace } = query;
  const lower = word.toLowerCase();
  const names = ({ key, name, spec }: DeployedFunction): readonly string[] =>
    spec === undefined ? [key, name] : [key, name, ...wordsOf(spec.for)];
  const named = all.filter((one) => names(one).includes(lower));
  const exact = named.filter(({ key, name }) => [key, name].includes(lower));
  const found = exact.length > 0 ? exact : named;
  const covering = found.filter(({ spec }) => spec?.for.namespaces?.includes(namespace) ?? true);
  const [only, ...others] = covering.length > 0 ? covering : found;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) {
    const known = all.map(({ key }) => key).join(", ");
    throw new UnknownKindError(
      `No function manages ${JSON.stringify(word)}. ${known === "" ? "There are no functions" : `There are: ${known}`}.`,
    );
  }
  throw severalFor(query, [only, ...others]);
}

/** The namespace of the named object, if its kind is namespaced. */
const namespaceOf = ({ name, namespace }: ObjectQuery): string =>
  name.includes("/") ? name.slice(0, name.indexOf("/")) : namespace;

/** @throws CommandError if it is not a valid object name. */
export function queriedKey(
  { name, namespace }: Pick<ObjectQuery, "name" | "namespace">,
  scope: "Namespaced" | "Cluster",
): ObjectKey {
  const text = scope === "Cluster" || name.includes("/") ? name : `${namespace}/${name}`;
  const key = tryParseObjectKey(text);
  if (key !== undefined) return key;
  throw new CommandError(`${JSON.stringify(name)} is not a valid object name. Give name, or namespace/name.`);
}
