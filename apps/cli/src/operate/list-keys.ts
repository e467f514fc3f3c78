import type { RedisConnection } from "@drover/queue";
import type { SelectedCluster } from "../cluster-options.ts";
import { CommandError } from "../command-error.ts";
import { type DeployedFunction, deployedFunctions } from "../deployed-functions.ts";
import { findFunction, hasQueue, withQueue } from "../find-object.ts";
import { queueNotFoundMessage } from "../redis-option.ts";
import type { ListedKeys } from "./key-writer.ts";
import { type KeyFilter, filterKeys } from "./filter-keys.ts";

/** Selects the keys to list. */
export interface ListRequest extends KeyFilter {
  /** Undefined: the keys of all functions of the namespace, or of all namespaces. */
  readonly function: string | undefined;
  readonly allNamespaces: boolean;
  readonly limit: number;
}

/** The result of a listing. */
export interface ListSummary {
  readonly keys: number;
  /** Functions without a queue in this Redis. */
  readonly absent: readonly string[];
}

/**
 * Lists the keys of functions, page by page.
 *
 * @param write called with each page, in order. The next page is read once it has resolved.
 * @throws CommandError if no such function exists, or the named one has no queue in this Redis.
 */
export async function listKeys(
  cluster: SelectedCluster,
  redis: RedisConnection,
  request: ListRequest,
  write: (listed: ListedKeys) => Promise<void>,
): Promise<ListSummary> {
  const absent: string[] = [];
  let count = 0;
  for (const fn of await functionsOf(cluster, redis, request)) {
    if (!(await hasQueue(redis, fn))) {
      absent.push(fn.key);
      continue;
    }
    await withQueue(redis, fn, async (queue) => {
      for await (const { keys, now } of filterKeys(queue, request)) {
        const some = keys.slice(0, request.limit - count);
        await write({ fn: fn.key, keys: some, now });
        count += some.length;
        if (count === request.limit) return;
      }
    });
    if (count === request.limit) break;
  }
  if (request.function !== undefined && absent.length > 0)
    throw new CommandError(queueNotFoundMessage(absent));
  return { keys: count, absent };
}

async function functionsOf(
  { client, namespace }: SelectedCluster,
  redis: RedisConnection,
  { function: word, allNamespaces }: ListRequest,
): Promise<readonly DeployedFunction[]> {
  if (word === undefined) return deployedFunctions(client, allNamespaces ? undefined : namespace);
  const example = (fn: string): string => `drover list ${fn}`;
  return [await findFunction({ client, redis }, { word, namespace, example })];
}
