import {
  functionQueueIn,
  isSelfNamed,
  type Log,
  type Milliseconds,
  namespaceOfQueue,
  queueOf,
  ReconcileFunction,
} from "@drover/controller";
import { type KubeClient, type KubeObject, listAll, refOf } from "@drover/kube";
import {
  deleteKeys,
  type QueueKey,
  type RedisAccounts,
  redisAccounts,
  type RedisConnection,
  walkQueueKeys,
} from "@drover/queue";
import { atMost, pause, type TenantRedis } from "@drover/runtime";
import { setTimeout as delay } from "node:timers/promises";
import { queuesOf } from "./function-queues.ts";
import { redisUserOf, redisUsers } from "./names.ts";

export interface SweepOptions {
  readonly client: KubeClient;
  readonly redis: RedisConnection;
  readonly accounts: Pick<RedisAccounts, "names" | "revoke">;
  /** Whether this is the Redis of a namespace's functions; of undefined: Drover's own. Default: it is that of all. */
  readonly isOf?: (namespace: string | undefined) => boolean;
  /** Between two steps, each of which looks at about a thousand keys. */
  readonly pace: Milliseconds;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Looks once at all keys and users in one Redis, and deletes those of functions that are gone, or have another Redis now.
 *
 * A function's keys are deleted when it is; but a bridge, a gateway or a program of its own that learns of it later writes
 * some again. And what somebody made impossible to delete in order (a finalizer taken off by hand, a kind that is watched no
 * more) is left.
 *
 * Guaranteed: no key of a function that there is is deleted in its Redis, also when it was made a moment ago. Its uid stands in the key,
 * so the object is older than the key; it is looked for, in a list that the API server answers from its newest state,
 * after the key was seen. A uid never comes back.
 */
export async function sweep(options: SweepOptions): Promise<void> {
  const { client, redis, accounts, isOf = () => true, pace, log, signal } = options;
  const list = () =>
    listAll(client, refOf(ReconcileFunction), { signal }).then((functions) => neededBy(functions, isOf));
  let needed = await list();
  const unneeded = async <T>(found: readonly T[], is: (of: Needed, one: T) => boolean) => {
    if (found.every((one) => is(needed, one))) return [];
    needed = await list();
    return found.filter((one) => !is(needed, one));
  };
  const walk = walkQueueKeys(redis);
  const deleteUnneeded = async (keys: readonly QueueKey[]): Promise<void> => {
    const left = await unneeded(keys, (of, key) => of.hasKey(key));
    if (left.length === 0) return;
    await deleteKeys(redis, left);
    const queues = [...new Set(left.map(({ queue }) => queue))];
    log.info({ keys: left.length, queues }, "Deleted what functions that are gone left in Redis");
  };
  while (await walk.step(deleteUnneeded)) await delay(pace, undefined, { signal });
  const users = (await accounts.names()).filter((user) => user.startsWith(redisUsers));
  for (const user of await unneeded(users, (of, one) => of.users.has(one))) {
    await accounts.revoke(user);
    log.info({ user }, "Revoked the Redis user of a function that is gone");
  }
}

export interface KeptSwept extends Omit<SweepOptions, "redis" | "accounts" | "isOf"> {
  readonly tenants: Pick<TenantRedis, "servers" | "tenantOf">;
  /** Between two sweeps of a server. */
  readonly every: Milliseconds;
}

/** How long sweeps that are under way may take to end. */
const farewell: Milliseconds = 2_000;

/** Sweeps every Redis until its signal fires; one that is away holds up no other. Several processes may. */
export async function keepSwept({ tenants, every, ...options }: KeptSwept): Promise<void> {
  const { log, signal } = options;
  const underWay = new Map<RedisConnection, Promise<void>>();
  const begin = ({ redis, tenant }: ReturnType<TenantRedis["servers"]>[number]): void => {
    const isOf = (namespace: string | undefined): boolean => tenants.tenantOf(namespace) === tenant;
    const swept = sweep({ ...options, redis, isOf, accounts: redisAccounts(redis) })
      .catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, "Could not look for what functions left in Redis");
      })
      .finally(() => underWay.delete(redis));
    underWay.set(redis, swept);
  };
  while (!signal.aborted) {
    for (const server of tenants.servers()) if (!underWay.has(server.redis)) begin(server);
    await pause(every, signal);
  }
  await atMost(farewell, Promise.all(underWay.values()));
}

const hookKeys = "{drover-hook:";

/** What must stay in Redis. */
interface Needed {
  readonly hasKey: (key: QueueKey) => boolean;
  readonly users: ReadonlySet<string>;
}

function neededBy(functions: readonly KubeObject[], isOf: NonNullable<SweepOptions["isOf"]>): Needed {
  /** By the function's queue, all its queues; undefined where its spec does not say which. */
  const queues = new Map<string, ReadonlySet<string> | undefined>();
  const users = new Set<string>();
  for (const { metadata, ...object } of functions) {
    const spec = ReconcileFunction.spec.safeParse(object["spec"]).data;
    const isAsItWas = spec === undefined || metadata.deletionTimestamp !== undefined;
    queues.set(queueOf(metadata), isAsItWas ? undefined : new Set(queuesOf(metadata, spec)));
    if (isOf(metadata.namespace)) users.add(redisUserOf(metadata));
  }
  return {
    users,
    hasKey({ name, queue }) {
      const fn = functionQueueIn(queue);
      // Not a function's of this cluster: a program's that names itself, or something else that has such a key.
      if (fn === undefined || isSelfNamed(queue)) return true;
      // What hooks took is beside the streams, wherever the queue is.
      if (!isOf(name.startsWith(hookKeys) ? undefined : namespaceOfQueue(queue))) return false;
      return queues.has(fn) && (queues.get(fn)?.has(queue) ?? true);
    },
  };
}
