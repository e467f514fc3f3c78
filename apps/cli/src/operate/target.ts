import { objectKey } from "@drover/controller";
import { builtin, isApiError, type KubeClient } from "@drover/kube";
import type { PauseScope } from "@drover/queue";
import { hostname, userInfo } from "node:os";
import type { SelectedCluster } from "../cluster-options.ts";
import { CommandError } from "../command-error.ts";
import { findFunction, findObject, parseObjectArguments, type ReadableFunction } from "../find-object.ts";
import type { CommandServers } from "../command-servers.ts";
import { readObject } from "../why/key-facts.ts";

/** The target of an operator's command, as the command line names it. */
export interface TargetArguments {
  readonly command: string;
  readonly first: string;
  readonly second: string | undefined;
  /** All objects of the function in this namespace. */
  readonly in: string | undefined;
  /** All objects of the function. */
  readonly all: boolean;
}

/** One object of a function, its objects in a namespace, or all of them. */
export interface OperatorTarget {
  readonly fn: ReadableFunction;
  readonly scope: PauseScope;
  /** For messages: `Bucket web/photos`, `all objects of web/buckets in namespace web`. */
  readonly description: string;
  /** The command that resumes it. */
  readonly resume: string;
  /** Resolves with true if the object or namespace exists; undefined if this user may not see it. */
  readonly exists: () => Promise<boolean | undefined>;
}

/** @throws CommandError if the words match no target, or several functions. */
export async function findTarget(
  cluster: SelectedCluster,
  servers: CommandServers,
  words: TargetArguments,
): Promise<OperatorTarget> {
  if (words.all && words.in !== undefined) throw new CommandError("Give --all or --in, not both.");
  return words.all || words.in !== undefined
    ? functionTarget(cluster, servers, words)
    : objectTarget(cluster, servers, words);
}

async function objectTarget(
  { namespace }: SelectedCluster,
  servers: CommandServers,
  { command, first, second }: TargetArguments,
): Promise<OperatorTarget> {
  const [kind, name] = parseObjectArguments(first, second, command, true);
  const { fn, key } = await findObject(servers, { kind, name, namespace, command });
  return {
    fn,
    scope: { kind: "object", key },
    description: `${fn.spec.for.kind} ${key}`,
    resume: `drover resume ${fn.key} ${key}`,
    exists: () =>
      undefinedIfForbidden(async () => (await readObject(servers.client, fn.spec.for, key)) !== undefined),
  };
}

async function functionTarget(
  { namespace }: SelectedCluster,
  servers: CommandServers,
  { command, first, second, in: within, all }: TargetArguments,
): Promise<OperatorTarget> {
  if (second !== undefined) {
    throw new CommandError(
      `--in and --all are for all objects of a function: leave out ${JSON.stringify(second)}, or the option.`,
    );
  }
  const example = (fn: string): string =>
    `drover ${command} ${fn} ${within === undefined ? "--all" : `--in ${within}`}`;
  const fn = await findFunction(servers, { word: first, namespace: within ?? namespace, example });
  const everything = `all objects of ${fn.key}`;
  if (within === undefined) {
    return {
      fn,
      scope: { kind: "controller" },
      description: everything,
      exists: () => Promise.resolve(all),
      resume: `drover resume ${fn.key} --all`,
    };
  }
  refuseForeignNamespace(fn, within);
  return {
    fn,
    scope: { kind: "namespace", namespace: within },
    description: `${everything} in namespace ${within}`,
    resume: `drover resume ${fn.key} --in ${within}`,
    exists: () => undefinedIfForbidden(() => namespaceExists(servers.client, within)),
  };
}

function refuseForeignNamespace({ key, spec: { for: own } }: ReadableFunction, namespace: string): void {
  if (own.scope === "Cluster")
    throw new CommandError(`${own.kind} is cluster-scoped: give --all, or an object.`);
  if (own.namespaces?.includes(namespace) ?? true) return;
  throw new CommandError(
    `${key} manages no objects in namespace ${namespace}, but in: ${own.namespaces?.join(", ")}.`,
  );
}

async function namespaceExists(client: KubeClient, name: string): Promise<boolean> {
  return (await client.get(builtin.namespace, objectKey({ name }))) !== undefined;
}

/** Undefined if this user may not see it. */
async function undefinedIfForbidden(look: () => Promise<boolean>): Promise<boolean | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isApiError(error, "Forbidden")) return undefined;
    throw error;
  }
}

/** @throws CommandError if the target is known not to exist. */
export async function rejectAbsent({ description, exists, scope }: OperatorTarget): Promise<void> {
  if ((await exists()) !== false) return;
  throw new CommandError(
    scope.kind === "namespace" ? `There is no namespace ${scope.namespace}.` : `There is no ${description}.`,
  );
}

/**
 * The name of the operator, recorded as the author of a pause.
 * @param user throws for a user id without a name. Default: the operating system's user.
 */
export function operatorName(user: () => { readonly username: string } = userInfo): string {
  try {
    return `${user().username}@${hostname()}`;
  } catch {
    // A user id without a name, as is usual in containers.
    return `${process.getuid?.() ?? "somebody"}@${hostname()}`;
  }
}
