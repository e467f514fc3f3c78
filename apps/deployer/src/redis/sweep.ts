import { waitAtMost, sleepUnlessAborted } from "@drover/timers";
import {
  functionQueueOf,
  isUnregisteredQueue,
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
  type RedisUserAdmin,
  redisUserAdmin,
  type RedisConnection,
  scanQueueKeys,
} from "@drover/queue";
import { type TenantRedis } from "@drover/runtime";
import { setTimeout as delay } from "node:timers/promises";
import { queuesOf } from "./function-queues.ts";
import { redisUserName, redisUserPrefix } from "../names.ts";

export interface SweepOptions {
  readonly client: KubeClient;
  readonly redis: RedisConnection;
  readonly accounts: Pick<RedisUserAdmin, "names" | "revoke">;
  /**
   * True if this Redis serves the functions of a namespace; for undefined, if it is Drover's own. Default: it serves
   * all.
   */
  readonly isOf?: (namespace: string | undefined) => boolean;
  /** Pause between two steps. A step checks about a thousand keys. */
  readonly pace: Milliseconds;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Checks all keys and users in one Redis once, and deletes those of functions that are gone, or have another Redis now.
 *
 * A function's keys are deleted with it. But a bridge, a gateway or a function that the deployer does not run may write
 * some again before it sees the deletion. Keys are also left if a finalizer was removed by hand, or if a function no
 * longer watches a kind with a queue of its own.
 *
 * Guarantee: no key of an existing function is deleted in its Redis, even if the function was created a moment ago. The
 * key contains the function's uid, so the object is older than the key. The object is looked up after the key was seen,
 * in a list that the API server answers from its newest state. A uid is never used again.
 */
export async function sweep(options: SweepOptions): Promise<void> {
  const { client, redis, accounts, isOf = () => true, pace, log, signal } = options;
  const list = () =>
    listAll(client, refOf(ReconcileFunction), { signal }).then((functions) => neededBy(functions, isOf));
  let needed = await list();
  const unneeded = async <T>(found: readonly T[], is: (of: NeededKeys, one: T) => boolean) => {
    if (found.every((one) => is(needed, one))) return [];
    needed = await list();
    return found.filter((one) => !is(needed, one));
  };
  const walk = scanQueueKeys(redis);
  const deleteUnneeded = async (keys: readonly QueueKey[]): Promise<void> => {
    const left = await unneeded(keys, (of, key) => of.hasKey(key));
    if (left.length === 0) return;
    await deleteKeys(redis, left);
    const queues = [...new Set(left.map(({ queue }) => queue))];
    log.info({ keys: left.length, queues }, "Deleted Redis keys of functions that are gone");
  };
  while (await walk.step(deleteUnneeded)) await delay(pace, undefined, { signal });
  const users = (await accounts.names()).filter((user) => user.startsWith(redisUserPrefix));
  for (const user of await unneeded(users, (of, one) => of.users.has(one))) {
    await accounts.revoke(user);
    log.info({ user }, "Revoked the Redis user of a function that is gone");
  }
}

export interface SweeperOptions extends Omit<SweepOptions, "redis" | "accounts" | "isOf"> {
  readonly tenants: Pick<TenantRedis, "servers" | "tenantOf">;
  /** Pause between two sweeps of a server. */
  readonly every: Milliseconds;
}

/** How long sweeps may take to end when the process stops. */
const shutdownTimeout: Milliseconds = 2_000;

/**
 * Sweeps every Redis until `signal` fires. One that is not available delays no other. Several processes may do this.
 */
export async function runSweeper({ tenants, every, ...options }: SweeperOptions): Promise<void> {
  const { log, signal } = options;
  const underWay = new Map<RedisConnection, Promise<void>>();
  const begin = ({ redis, tenant }: ReturnType<TenantRedis["servers"]>[number]): void => {
    const isOf = (namespace: string | undefined): boolean => tenants.tenantOf(namespace) === tenant;
    const swept = sweep({ ...options, redis, isOf, accounts: redisUserAdmin(redis) })
      .catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, "Could not sweep a Redis for functions that are gone");
      })
      .finally(() => underWay.delete(redis));
    underWay.set(redis, swept);
  };
  while (!signal.aborted) {
    for (const server of tenants.servers()) if (!underWay.has(server.redis)) begin(server);
    await sleepUnlessAborted(every, signal);
  }
  await waitAtMost(shutdownTimeout, Promise.all(underWay.values()));
}

const hookKeys = "{drover-hook:";

/** The keys and users that must stay in Redis. */
interface NeededKeys {
  readonly hasKey: (key: QueueKey) => boolean;
  readonly users: ReadonlySet<string>;
}

function neededBy(functions: readonly KubeObject[], isOf: NonNullable<SweepOptions["isOf"]>): NeededKeys {
  /**
   * By the function's queue, all its queues. Undefined: keep all, because its spec is invalid or it is being deleted.
   */
  const queues = new Map<string, ReadonlySet<string> | undefined>();
  const users = new Set<string>();
  for (const { metadata, ...object } of functions) {
    const spec = ReconcileFunction.spec.safeParse(object["spec"]).data;
    const isAsItWas = spec === undefined || metadata.deletionTimestamp !== undefined;
    queues.set(queueOf(metadata), isAsItWas ? undefined : new Set(queuesOf(metadata, spec)));
    if (isOf(metadata.namespace)) users.add(redisUserName(metadata));
  }
  return {
    users,
    hasKey({ name, queue }) {
      const fn = functionQueueOf(queue);
      // Not of a function in this cluster: written by a program without a ReconcileFunction, or by other software.
      if (fn === undefined || isUnregisteredQueue(queue)) return true;
      // Events of hooks are in Drover's own Redis, with the streams, wherever the queue is.
      if (!isOf(name.startsWith(hookKeys) ? undefined : namespaceOfQueue(queue))) return false;
      return queues.has(fn) && (queues.get(fn)?.has(queue) ?? true);
    },
  };
}
