import { type Log, messageOf, type Milliseconds, silentLog } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { connectRedis, disconnectRedis, redisUserAdmin, reloadCertificate } from "@drover/queue";
import { sleepUnlessAborted } from "@drover/timers";
import { SetupError } from "./kept-object.ts";
import { keepRedisSecrets, type RedisSecrets, userRoles } from "./redis-secrets.ts";

export interface RedisSetupOptions {
  readonly client: KubeClient;
  /** The namespace of the installation. */
  readonly namespace: string;
  /** The URL of the deployer: `rediss://` and one server. */
  readonly redisUrl: string;
  /** The URL of functions. Default: the same server. */
  readonly functionsRedisUrl?: string | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
  /**
   * Time for the administrator to connect. Afterwards the deployer's own connection waits for the server. Default: 5 s.
   */
  readonly connectTimeout?: Milliseconds;
}

/** The deployer's settings for Redis that are made in the cluster, in place of files. */
export interface RedisAccess {
  readonly redisPasswordFile: string;
  readonly redisCaFile: string;
}

/**
 * Makes the passwords and certificates of an installation's Redis that are absent or due, and applies them to the
 * server, which reads its files only when it starts. If the server cannot be reached, this is logged: it reads them
 * later.
 *
 * @throws SetupError if an object cannot be used.
 */
export async function setUpRedis(options: RedisSetupOptions, now = new Date()): Promise<RedisAccess> {
  const { redisUrl, functionsRedisUrl = redisUrl, connectTimeout = 5_000, ...kept } = options;
  const { log, signal } = kept;
  const hosts = [...new Set([redisUrl, functionsRedisUrl].flatMap(hostsOf))];
  const secrets = await keepRedisSecrets({ ...kept, hosts, now });
  await applySecrets({ redisUrl, connectTimeout, signal }, secrets).catch((error: unknown) => {
    log.warn({ problem: messageOf(error) }, "Users and certificate could not be given to Redis");
  });
  return { redisPasswordFile: secrets.passwords.deployer, redisCaFile: secrets.ca };
}

/**
 * Does the same at intervals, until `signal` fires. Calls `onChange` and ends if another password or authority is in
 * force than the process has started with.
 */
export async function keepRedisSetUp(
  options: RedisSetupOptions & { readonly every: Milliseconds; readonly started: RedisAccess },
  onChange: (error: SetupError) => void,
): Promise<void> {
  const { every, started, ...setup } = options;
  const { log, signal } = setup;
  for (;;) {
    await sleepUnlessAborted(every, signal);
    if (signal.aborted) return;
    const present = await setUpRedis(setup).catch((error: unknown) => {
      log.warn({ problem: messageOf(error) }, "The Redis of the installation is not as it should be");
      return started;
    });
    if (
      present.redisPasswordFile === started.redisPasswordFile &&
      present.redisCaFile === started.redisCaFile
    ) {
      continue;
    }
    onChange(new SetupError("The password or the authority of Redis has changed. Start the process again."));
    return;
  }
}

/** The host of a URL, and the other names of a Service that is written as `<service>.<namespace>`. */
export function hostsOf(url: string): readonly string[] {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
  const [, service] = /^([a-z0-9-]+)\.[a-z0-9-]*[a-z][a-z0-9-]*$/.exec(host) ?? [];
  return service === undefined ? [host] : [host, service, `${host}.svc`, `${host}.svc.cluster.local`];
}

/** Gives the users their passwords and this version's permissions, and makes the server read its certificate. */
async function applySecrets(
  {
    redisUrl,
    connectTimeout,
    signal,
  }: Required<Pick<RedisSetupOptions, "redisUrl" | "connectTimeout" | "signal">>,
  secrets: RedisSecrets,
): Promise<void> {
  const url = new URL(redisUrl);
  url.username = "admin";
  const login = { url: url.href, password: secrets.passwords.admin, ca: secrets.ca };
  const how = { clientName: "setup", log: silentLog, connectTimeout, loadsScripts: false, signal };
  const redis = await connectRedis({ ...login, ...how });
  try {
    const users = redisUserAdmin(redis);
    for (const role of userRoles) {
      await users.grant(role, { role, controllers: "all" }, [secrets.passwords[role]]);
    }
    await reloadCertificate(redis, secrets.certificate);
  } finally {
    await disconnectRedis(redis);
  }
}
