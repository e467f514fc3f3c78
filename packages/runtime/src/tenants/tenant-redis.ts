import { raceAbort, waitAtMost, sleepUnlessAborted } from "@drover/timers";
import { type Log, messageOf, type Milliseconds, namespaceOfQueue, silentLog } from "@drover/controller";
import {
  connectRedis,
  disconnectRedis,
  type RedisConnection,
  checkServer,
  serverIds,
  UnfitRedisError,
} from "@drover/queue";
import { Gauge, type Registry } from "prom-client";
import type { Tenant } from "./tenants-file.ts";

/** A connection to the Redis of a queue. */
export interface QueueRedis {
  readonly redis: RedisConnection;
  /**
   * Fires when the connection is closed for good. All that uses it must be closed, and opened again on the next
   * connection.
   */
  readonly gone: AbortSignal;
}

/**
 * The Redis of a tenant is unreachable, or must not be written to; the message has the reason. Other tenants are not
 * affected.
 */
export class TenantRedisError extends Error {
  override readonly name = "TenantRedisError";
}

/** Finds the Redis of each queue, and keeps the connections to all of them. */
export interface TenantRedis {
  /** @throws TenantRedisError while the server of the queue's tenant does not answer, or is not fit. */
  readonly redisFor: (queue: string) => QueueRedis;
  /** All servers that may be written to now. */
  readonly servers: () => readonly UsableServer[];
  /** The tenant of a namespace; undefined: the process's own Redis serves it. */
  readonly tenantOf: (namespace: string | undefined) => Tenant | undefined;
  /** A message for each server that cannot be used. */
  readonly problems: () => readonly string[];
  readonly close: () => Promise<void>;
}

export interface UsableServer {
  readonly redis: RedisConnection;
  /** Undefined: the process's own. */
  readonly tenant: Tenant | undefined;
}

export interface TenantRedisOptions {
  readonly tenants: readonly Tenant[];
  /** The process's own, for all namespaces without a tenant. */
  readonly main: RedisConnection;
  /** The client's name in `CLIENT LIST`. */
  readonly clientName: string;
  readonly loadsScripts: boolean;
  readonly recordScriptsAs?: string | undefined;
  readonly log: Log;
  readonly times?: Partial<TenantTimes>;
}

export interface TenantTimes {
  /** Time between two checks of a server, and between two attempts to connect. */
  readonly checkInterval: Milliseconds;
  /** A server that has not answered a check for this long counts as unreachable. */
  readonly checkTimeout: Milliseconds;
  /** Timeout of one attempt to connect. */
  readonly connectTimeout: Milliseconds;
}

const defaultTimes: TenantTimes = { checkInterval: 1_000, checkTimeout: 2_000, connectTimeout: 5_000 };
/** Time for servers to close their connections. */
const closeTimeout: Milliseconds = 1_500;

/**
 * Keeps a connection to the Redis of each tenant. Each server is handled independently: one that is unreachable, unfit
 * or slow does not affect others, and the process starts without it.
 *
 * A connected server is checked again and again, as `connectRedis` checks it at first. A server that merely does not
 * answer keeps its connection, so that commands in progress are sent again when it is back. One that has become unfit
 * loses it.
 *
 * No two tenants may share a server, and none may use Drover's own. Servers are compared by their own ids, because
 * different host names may lead to the same server. Tenants that share one are not served.
 */
export function openTenantRedis(options: TenantRedisOptions): TenantRedis {
  const { tenants, main } = options;
  const stopping = new AbortController();
  const ownRedis: QueueRedis = { redis: main, gone: new AbortController().signal };
  const ids = serverIdentities(main);
  const kept = tenants.map((tenant) => ({
    tenant,
    server: maintainServer(tenant, ids, options, stopping.signal),
  }));
  const byNamespace = new Map(
    kept.flatMap((one) => one.tenant.namespaces.map((name) => [name, one] as const)),
  );
  const of = (namespace: string | undefined) =>
    namespace === undefined ? undefined : byNamespace.get(namespace);
  return {
    redisFor: (queue) => of(namespaceOfQueue(queue))?.server.usable() ?? ownRedis,
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
      await waitAtMost(closeTimeout, Promise.all(kept.map(({ server }) => server.done)));
    },
  };
}

/** A gauge for each tenant's server, labelled with the tenant's first namespace: 1 if it can be used, else 0. */
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

interface TenantServer {
  /** @throws TenantRedisError */
  readonly usable: () => QueueRedis;
  readonly problem: () => string | undefined;
  readonly done: Promise<void>;
}

function maintainServer(
  tenant: Tenant,
  ids: ServerIdentities,
  options: TenantRedisOptions,
  stopping: AbortSignal,
): TenantServer {
  const times = { ...defaultTimes, ...options.times };
  const log = withTenant(options.log, tenant);
  const health = healthOf(`The Redis of ${tenant.namespaces.join(", ") || "no namespace"}`, log);
  let connected: QueueRedis | undefined;
  const check = async (redis: RedisConnection): Promise<void> => {
    // Missing patches were logged when it was connected.
    await checkServer(redis, times.checkTimeout, silentLog);
    await ids.refuseShared(tenant, redis);
  };
  const serve = async (): Promise<void> => {
    const redis = await connectTo(tenant, { ...options, log }, times.connectTimeout, stopping).catch(
      (error: unknown) => {
        ids.forget(tenant);
        throw error;
      },
    );
    const gone = new AbortController();
    try {
      await raceAbort(check(redis), stopping);
      connected = { redis, gone: gone.signal };
      health.report(undefined);
      await monitorServer(() => check(redis), health, times, stopping);
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
        if (!stopping.aborted) health.report(messageOf(error));
      });
      await sleepUnlessAborted(times.checkInterval, stopping);
    }
  };
  return {
    problem: () => health.problem(connected),
    done: keep(),
    usable() {
      const why = health.problem(connected);
      if (why === undefined && connected !== undefined) return connected;
      throw new TenantRedisError(why ?? "The Redis of the tenant is being disconnected.");
    },
  };
}

const connectTo = (
  { url, password, ca }: Tenant,
  { clientName, loadsScripts, recordScriptsAs, log }: TenantRedisOptions,
  connectTimeout: Milliseconds,
  signal: AbortSignal,
): Promise<RedisConnection> =>
  connectRedis({
    ...(password !== undefined && { password }),
    ...(ca !== undefined && { ca }),
    url,
    clientName,
    loadsScripts,
    recordScriptsAs,
    log,
    connectTimeout,
    signal,
  });

interface Health {
  /** Records why the server cannot be used; undefined: it can. */
  readonly report: (why: string | undefined) => void;
  readonly problem: (connected: QueueRedis | undefined) => string | undefined;
}

function healthOf(name: string, log: Log): Health {
  let trouble: string | undefined = "it is not connected yet.";
  return {
    report(why) {
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

/** Checks the server until it is unfit, which is thrown, or until the process stops. */
async function monitorServer(
  check: () => Promise<void>,
  { report }: Health,
  { checkInterval, checkTimeout }: TenantTimes,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const late = setTimeout(report, checkTimeout, `it has not answered for ${checkTimeout} ms.`);
    try {
      await raceAbort(check(), stopping);
      report(undefined);
    } finally {
      clearTimeout(late);
    }
    await sleepUnlessAborted(checkInterval, stopping);
  }
}

interface ServerIdentities {
  /** @throws UnfitRedisError if another tenant or Drover itself uses the server. */
  refuseShared(tenant: Tenant, redis: RedisConnection): Promise<void>;
  /** Forgets the ids of a tenant's server that cannot be reached. */
  forget(tenant: Tenant): void;
}

/** The servers of all tenants, compared by their own ids. */
function serverIdentities(main: RedisConnection): ServerIdentities {
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
      // Only the first check waits for the main Redis: later ones must not wait while it is unreachable.
      if (own === undefined) await asked;
      else asked.catch(() => undefined);
      const ids = await serverIds(redis);
      known.set(tenant, ids);
      if (ids.some((id) => own?.includes(id))) {
        throw new UnfitRedisError(
          "it is Drover's own Redis, by another address. Give the tenant another server.",
        );
      }
      for (const [other, otherIds] of known) {
        if (other === tenant || !ids.some((id) => otherIds.includes(id))) continue;
        const shared = `it is the server of ${other.namespaces.join(", ")}, too, by another address.`;
        throw new UnfitRedisError(`${shared} Put their namespaces into one entry, or give each a server.`);
      }
    },
    forget: (tenant) => void known.delete(tenant),
  };
}

/** Adds the tenant to each log line. */
function withTenant(log: Log, { namespaces }: Tenant): Log {
  const tenant = namespaces.join(", ");
  return {
    debug: (fields, message) => log.debug({ tenant, ...fields }, message),
    info: (fields, message) => log.info({ tenant, ...fields }, message),
    warn: (fields, message) => log.warn({ tenant, ...fields }, message),
    error: (fields, message) => log.error({ tenant, ...fields }, message),
  };
}
