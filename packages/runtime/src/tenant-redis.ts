import { type Log, messageOf, type Milliseconds, namespaceOfQueue, silentLog } from "@drover/controller";
import {
  connectRedis,
  disconnectRedis,
  raceAbort,
  type RedisConnection,
  refuseUnfit,
  serverIds,
  UnfitRedisError,
} from "@drover/queue";
import { Gauge, type Registry } from "prom-client";
import { atMost } from "./at-most.ts";
import { pause } from "./pause.ts";
import type { Tenant } from "./tenants-file.ts";

/** A connection to the Redis of a queue. */
export interface QueueRedis {
  readonly redis: RedisConnection;
  /** Fires when the connection is given up: whatever stands on it must be closed, and opened on the next one. */
  readonly gone: AbortSignal;
}

/** The Redis of a tenant is not there, or must not be written to; the message says why. Others are not concerned. */
export class TenantRedisError extends Error {
  override readonly name = "TenantRedisError";
}

/** Whose Redis a queue is in, and the connections to all of them. */
export interface TenantRedis {
  /** @throws TenantRedisError while the server of the queue's tenant does not answer, or is not fit. */
  readonly redisFor: (queue: string) => QueueRedis;
  /** All servers that may be written to now. */
  readonly servers: () => readonly ServerInUse[];
  /** The tenant of a namespace; undefined: the process's own Redis serves it. */
  readonly tenantOf: (namespace: string | undefined) => Tenant | undefined;
  /** Servers that cannot be used, in words. */
  readonly problems: () => readonly string[];
  readonly close: () => Promise<void>;
}

export interface ServerInUse {
  readonly redis: RedisConnection;
  /** Undefined: the process's own. */
  readonly tenant: Tenant | undefined;
}

export interface TenantRedisOptions {
  readonly tenants: readonly Tenant[];
  /** The process's own, for all that is no tenant's. */
  readonly main: RedisConnection;
  /** Shown by `CLIENT LIST`. */
  readonly clientName: string;
  readonly loadsScripts: boolean;
  readonly log: Log;
  readonly times?: Partial<TenantTimes>;
}

export interface TenantTimes {
  /** Between two looks at a server, and between two attempts to connect. */
  readonly every: Milliseconds;
  /** A server that has not answered a look for this long counts as away. */
  readonly patience: Milliseconds;
  /** How long one attempt to connect takes at most. */
  readonly connecting: Milliseconds;
}

const usualTimes: TenantTimes = { every: 1_000, patience: 2_000, connecting: 5_000 };
/** How long servers may take to say goodbye. */
const farewell: Milliseconds = 1_500;

/**
 * Keeps a connection to the Redis of each tenant. Each is looked after by itself: a server that is away, unfit or slow
 * changes nothing for others, and the process starts without it.
 *
 * What is connected is looked at again and again, as `connectRedis` looks at it first. A server that merely does not answer
 * keeps its connection, so that commands under way are sent again when it is back. One that has become unfit loses it.
 *
 * No two tenants share a server, nor one with Drover itself: servers are compared by the id that each has of its own, which
 * shows what different host names hide. Where they do, none of those tenants is served.
 */
export function openTenantRedis(options: TenantRedisOptions): TenantRedis {
  const { tenants, main } = options;
  const stopping = new AbortController();
  const mine: QueueRedis = { redis: main, gone: new AbortController().signal };
  const ids = identities(main);
  const kept = tenants.map((tenant) => ({
    tenant,
    server: keepServer(tenant, ids, options, stopping.signal),
  }));
  const byNamespace = new Map(
    kept.flatMap((one) => one.tenant.namespaces.map((name) => [name, one] as const)),
  );
  const of = (namespace: string | undefined) =>
    namespace === undefined ? undefined : byNamespace.get(namespace);
  return {
    redisFor: (queue) => of(namespaceOfQueue(queue))?.server.usable() ?? mine,
    servers: () => [
      { redis: main, tenant: undefined },
      ...kept.flatMap(({ tenant, server }) =>
        server.problem() === undefined ? { redis: server.usable().redis, tenant } : [],
      ),
    ],
    tenantOf: (namespace) => of(namespace)?.tenant,
    problems: () => kept.flatMap(({ server }) => server.problem() ?? []),
    async close() {
      stopping.abort();
      await atMost(farewell, Promise.all(kept.map(({ server }) => server.done)));
    },
  };
}

/** 1 for each tenant's server that can be used, by the first of its namespaces. */
export function tenantMetrics(registry: Registry, tenants: readonly Tenant[], redis: TenantRedis): void {
  new Gauge({
    name: "drover_tenant_redis_usable",
    help: "1 while the Redis of a tenant answers and is fit, by the tenant's first namespace.",
    labelNames: ["namespace"],
    registers: [registry],
    collect() {
      for (const {
        namespaces: [namespace],
      } of tenants)
        if (namespace !== undefined) this.set({ namespace }, isUsable(redis, namespace) ? 1 : 0);
    },
  });
}

function isUsable({ redisFor }: TenantRedis, namespace: string): boolean {
  try {
    return redisFor(`${namespace}/any/any`).redis.status === "ready";
  } catch (error) {
    if (error instanceof TenantRedisError) return false;
    throw error;
  }
}

interface KeptServer {
  /** @throws TenantRedisError */
  readonly usable: () => QueueRedis;
  readonly problem: () => string | undefined;
  readonly done: Promise<void>;
}

function keepServer(
  tenant: Tenant,
  ids: Identities,
  options: TenantRedisOptions,
  stopping: AbortSignal,
): KeptServer {
  const times = { ...usualTimes, ...options.times };
  const log = named(options.log, tenant);
  const health = healthOf(`The Redis of ${tenant.namespaces.join(", ") || "no namespace"}`, log);
  let connected: QueueRedis | undefined;
  const check = async (redis: RedisConnection): Promise<void> => {
    // Missing patches were reported when it was connected.
    await refuseUnfit(redis, times.patience, silentLog);
    await ids.refuseShared(tenant, redis);
  };
  const serve = async (): Promise<void> => {
    const redis = await connectTo(tenant, { ...options, log }, times.connecting, stopping).catch(
      (error: unknown) => {
        ids.forget(tenant);
        throw error;
      },
    );
    const gone = new AbortController();
    try {
      await raceAbort(check(redis), stopping);
      connected = { redis, gone: gone.signal };
      health.tell(undefined);
      await watch(() => check(redis), health, times, stopping);
    } finally {
      connected = undefined;
      gone.abort();
      if (stopping.aborted) await disconnectRedis(redis);
      else redis.disconnect();
    }
  };
  const keep = async (): Promise<void> => {
    while (!stopping.aborted) {
      await serve().catch((error: unknown) => {
        if (!stopping.aborted) health.tell(messageOf(error));
      });
      await pause(times.every, stopping);
    }
  };
  return {
    problem: () => health.problem(connected),
    done: keep(),
    usable() {
      const why = health.problem(connected);
      if (why === undefined && connected !== undefined) return connected;
      throw new TenantRedisError(why ?? "It is being left.");
    },
  };
}

const connectTo = (
  { url, password, ca }: Tenant,
  { clientName, loadsScripts, log }: TenantRedisOptions,
  patience: Milliseconds,
  signal: AbortSignal,
): Promise<RedisConnection> =>
  connectRedis({
    ...(password !== undefined && { password }),
    ...(ca !== undefined && { ca }),
    url,
    clientName,
    loadsScripts,
    log,
    patience,
    signal,
  });

interface Health {
  /** Why it cannot be used; undefined: it can. */
  readonly tell: (why: string | undefined) => void;
  readonly problem: (connected: QueueRedis | undefined) => string | undefined;
}

function healthOf(name: string, log: Log): Health {
  let trouble: string | undefined = "it is not connected yet.";
  return {
    tell(why) {
      if (why !== undefined && why !== trouble)
        log.warn({ why }, "The Redis of a tenant is not used; trying again");
      if (why === undefined && trouble !== undefined) log.info({}, "The Redis of a tenant is used");
      trouble = why;
    },
    problem(connected) {
      if (trouble !== undefined) return `${name} is not used: ${trouble}`;
      return connected?.redis.status === "ready" ? undefined : `${name} is not used: it is not reachable.`;
    },
  };
}

/** Until the server is found unfit, or the process stops. */
async function watch(
  check: () => Promise<void>,
  { tell }: Health,
  { every, patience }: TenantTimes,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const late = setTimeout(tell, patience, `it has not answered for ${patience} ms.`);
    try {
      await raceAbort(check(), stopping);
      tell(undefined);
    } finally {
      clearTimeout(late);
    }
    await pause(every, stopping);
  }
}

interface Identities {
  /** @throws UnfitRedisError */
  refuseShared(tenant: Tenant, redis: RedisConnection): Promise<void>;
  /** Its address leads nowhere now. */
  forget(tenant: Tenant): void;
}

/** Which servers are whose, by the ids that they have of their own. */
function identities(main: RedisConnection): Identities {
  const known = new Map<Tenant, readonly string[]>();
  let own: readonly string[] | undefined;
  let asking: Promise<void> | undefined;
  const ask = (): Promise<void> => {
    asking ??= serverIds(main)
      .then((ids) => void (own = ids))
      .finally(() => (asking = undefined));
    return asking;
  };
  return {
    async refuseShared(tenant, redis) {
      const asked = ask();
      // Later a main Redis that is away is not waited for.
      if (own === undefined) await asked;
      else asked.catch(() => undefined);
      const ids = await serverIds(redis);
      known.set(tenant, ids);
      if (ids.some((id) => own?.includes(id))) {
        throw new UnfitRedisError(
          "it is Drover's own Redis, by another address. Give the tenant another server.",
        );
      }
      for (const [other, theirs] of known) {
        if (other === tenant || !ids.some((id) => theirs.includes(id))) continue;
        const shared = `it is the server of ${other.namespaces.join(", ")}, too, by another address.`;
        throw new UnfitRedisError(`${shared} Put their namespaces into one entry, or give each a server.`);
      }
    },
    forget: (tenant) => void known.delete(tenant),
  };
}

/** Says with each line whose Redis it is about. */
function named(log: Log, { namespaces }: Tenant): Log {
  const tenant = namespaces.join(", ");
  return {
    debug: (fields, message) => log.debug({ tenant, ...fields }, message),
    info: (fields, message) => log.info({ tenant, ...fields }, message),
    warn: (fields, message) => log.warn({ tenant, ...fields }, message),
    error: (fields, message) => log.error({ tenant, ...fields }, message),
  };
}
