import type { Log, Milliseconds } from "@drover/controller";
import { Cluster, type DNSLookupFunction, Redis } from "ioredis";
import { setTimeout as delay } from "node:timers/promises";
import { logOutages } from "./log-outages.ts";
import { isLoopbackHost, parseRedisUrl, type RedisAddress } from "./redis-address.ts";
import { redisErrorCode, redisRefusalOf } from "./redis-errors.ts";
import { keepScriptsLoaded } from "./lua/keep-scripts-loaded.ts";
import { checkServer, UnfitRedisError } from "./check-server.ts";
import { waitForScripts } from "./lua/lua-script.ts";
import { noAnswerAdvice, wrongPortAdvice } from "./wrong-port-advice.ts";
import { clusterReconnectOptions, reconnectOptions, type ReconnectSettings } from "./reconnect-options.ts";
import type { RedisConnection } from "./redis-servers.ts";

/** How to reach Redis. */
export interface RedisConnectionOptions {
  /** One server's URL, or those of a cluster's nodes, separated by commas: see {@link parseRedisUrl}. */
  readonly url: string;
  /** Overrides the URL's password. */
  readonly password?: string;
  /**
   * Certificates of the authorities to trust for `rediss://`, as PEM, in place of Node's own. The server's certificate
   * must be valid for the host in the URL.
   */
  readonly ca?: string;
  /** Shown by `CLIENT LIST`. */
  readonly clientName: string;
  readonly log: Log;
  /**
   * A connection that leaves a command unanswered for this long is replaced by a new one: a machine that vanished does
   * not close its connections. Must be longer than BullMQ's longest blocking read, 10 s. Default: 15 s.
   */
  readonly socketTimeout?: Milliseconds;
  /** How long to wait for a server that is not reachable yet, or still loads its data. Default: 30 s. */
  readonly connectTimeout?: Milliseconds;
  /**
   * True if the user may load scripts, as those of bridges and deployers may. They load the scripts of all processes,
   * and again after a restart or a failover. Others wait for scripts that Redis lacks, as for a server that is away.
   * Default: true.
   */
  readonly loadsScripts?: boolean;
  /**
   * The version of Drover, for users that may record scripts, as those of bridges and deployers may: the scripts of this
   * version are recorded under it, and recorded ones of other versions are loaded as well. Default: neither.
   */
  readonly recordScriptsAs?: string | undefined;
  /** How long a process that may not load scripts waits for them. Default: without limit. */
  readonly scriptTimeout?: Milliseconds;
  /** Stops connecting, and closes the connection. Has no effect once it is made. */
  readonly signal?: AbortSignal;
}

/** The codes with which Node rejects a certificate: https://nodejs.org/api/tls.html#x509-certificate-error-codes. */
const untrustedCertificate =
  /CERT|^ERR_TLS|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$|^(PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/;

/** How long a reachable server may take to answer QUIT. */
const quitTimeout: Milliseconds = 1_000;

/**
 * Connects, and checks that every server that receives writes is fit to hold a queue.
 *
 * Once connected, commands wait for as long as their server is away, loads its data or has been demoted, and are sent
 * again after a reconnect: every script here is safe to repeat. A command that a server refuses for other reasons (no
 * memory, no permission) rejects at once.
 *
 * In addition to the commands that its caller sends, the connection's user needs `INFO`, `PING` and `CLIENT SETNAME`;
 * on a cluster `CLUSTER SLOTS`, `CLUSTER INFO` and `ASKING`; to load scripts `EVAL`, `SCRIPT LOAD` and `SCRIPT EXISTS`.
 *
 * @throws UnfitRedisError if the server must not be used or cannot be reached. The message gives the change to make.
 */
export async function connectRedis(options: RedisConnectionOptions): Promise<RedisConnection> {
  const { url, password, ca, clientName, log, socketTimeout = 15_000, connectTimeout = 30_000 } = options;
  const address = parseRedisUrl(url);
  if (ca !== undefined && !isTls(address)) {
    throw new UnfitRedisError(
      "A CA for Redis is given, but its URL begins with redis://, which has no TLS. Write rediss://, or leave the CA out.",
    );
  }
  if (!isTls(address) && !address.nodes.every(({ host }) => isLoopbackHost(host))) {
    log.warn(
      { server: describeAddress(address) },
      "The connection to Redis is not encrypted: an attacker on the network can read and change passwords and copies of " +
        "objects. Give Redis a certificate, write rediss:// in its URL, and give the certificates of its authority in " +
        "DROVER_REDIS_CA_FILE",
    );
  }
  const login = password === undefined ? address : { ...address, password };
  const redis = open(login, ca === undefined ? {} : { ca }, { clientName, socketTimeout });
  logOutages(redis, log);
  const { loadsScripts = true, recordScriptsAs, scriptTimeout, signal } = options;
  if (!loadsScripts) waitForScripts(redis, log, scriptTimeout);
  const giveUp = (): void => redis.disconnect();
  signal?.addEventListener("abort", giveUp);
  try {
    signal?.throwIfAborted();
    await waitUntilReady(redis, {
      server: describeAddress(address),
      isTls: isTls(address),
      timeout: connectTimeout,
      signal,
    });
    await checkServer(redis, connectTimeout, log);
    if (loadsScripts) await keepScriptsLoaded(redis, log, recordScriptsAs).catch(throwLoadError);
  } catch (error) {
    redis.disconnect();
    throw error;
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
  return redis;
}

function throwLoadError(cause: unknown): never {
  const refusal = redisRefusalOf(cause);
  if (refusal === undefined) throw cause;
  throw new UnfitRedisError(`Scripts cannot be loaded into Redis. ${refusal.message}`, { cause });
}

/** Ends the connection: by QUIT if the server is reachable, otherwise at once. */
export async function disconnectRedis(redis: RedisConnection): Promise<void> {
  if (redis.status !== "ready") {
    redis.disconnect();
    return;
  }
  const hasQuit = new AbortController();
  const forcedEnd = delay(quitTimeout, undefined, { signal: hasQuit.signal }).then(
    () => redis.disconnect(),
    () => undefined,
  );
  await redis.quit().catch(() => undefined);
  hasQuit.abort();
  await forcedEnd;
}

// Never lazy: BullMQ's own connections are duplicates of this one, and a lazy one that finds its server away for a
// moment never works again.
function open(
  address: RedisAddress & { readonly password?: string },
  trust: { readonly ca?: string },
  reconnect: ReconnectSettings,
): RedisConnection {
  const { password } = address;
  if (address.kind === "server") {
    return new Redis(withPassword(address.url, password), {
      ...reconnectOptions(reconnect),
      ...(isTls(address) && { tls: trust }),
    });
  }
  const { nodes, username, tls } = address;
  const { redisOptions, ...options } = clusterReconnectOptions(reconnect);
  return new Cluster([...nodes], {
    ...options,
    // A certificate is valid for a name, so nodes are connected to by name.
    ...(tls && { dnsLookup: keepHostname }),
    redisOptions: {
      ...redisOptions,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls && { tls: trust }),
    },
  });
}

const isTls = (address: RedisAddress): boolean =>
  address.kind === "cluster" ? address.tls : address.url.trim().startsWith("rediss:");

/** If the URL contains a user, ioredis ignores a password from anywhere else. */
function withPassword(text: string, password: string | undefined): string {
  if (password === undefined) return text;
  const url = new URL(text);
  url.password = encodeURIComponent(password);
  return url.href;
}

const keepHostname: DNSLookupFunction = (name, done) => done(null, name);

interface ReadyWait {
  readonly server: string;
  readonly isTls: boolean;
  readonly timeout: Milliseconds;
  readonly signal: AbortSignal | undefined;
}

async function waitUntilReady(
  redis: RedisConnection,
  { server, isTls, timeout, signal }: ReadyWait,
): Promise<void> {
  const ready = Promise.withResolvers<undefined>();
  let last = isTls ? noAnswerAdvice(isTls) : "no answer";
  let wasRefused = false;
  const onError = (error: Error): void => {
    const cause =
      "lastNodeError" in error && error.lastNodeError instanceof Error ? error.lastNodeError : error;
    const wrong = wrongPortAdvice(cause);
    if (wrong !== undefined) ready.reject(new UnfitRedisError(`${server}: ${wrong}`, { cause }));
    wasRefused = !(isTls && /before secure TLS|ETIMEDOUT/.test(cause.message));
    if (!wasRefused) return;
    last = cause.message;
    if ("code" in cause && untrustedCertificate.test(String(cause.code))) {
      ready.reject(
        new UnfitRedisError(
          `${server} presents a certificate that is not trusted: ${last}. Give the certificates of its authority ` +
            "(DROVER_REDIS_CA_FILE), and write in the URL the host that the server's certificate names.",
          { cause },
        ),
      );
    }
    if (redisErrorCode(cause) !== undefined) {
      ready.reject(
        new UnfitRedisError(`${server} refuses us: ${last}. ${adviceFor(cause, redis)}`, { cause }),
      );
    }
  };
  // If a connection is reset or refused, there is an error as well.
  const onClose = (): void => {
    if (!wasRefused && !(redis instanceof Cluster)) last = noAnswerAdvice(isTls);
    wasRefused = false;
  };
  const giveUp = (): void => {
    const why = redis.status === "connect" ? "it is still loading its data" : last;
    ready.reject(new UnfitRedisError(`${server} is not reachable: ${why}. Start it, or give its URL.`));
  };
  const timer = setTimeout(giveUp, timeout);
  const onAbort = (): void => ready.reject(new UnfitRedisError(`${server}: connecting was stopped.`));
  signal?.addEventListener("abort", onAbort);
  redis
    .on("error", onError)
    .on("close", onClose)
    .once("ready", () => ready.resolve(undefined));
  await ready.promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    redis.off("error", onError).off("close", onClose);
  });
}

function adviceFor(refusal: Error, redis: RedisConnection): string {
  const code = redisErrorCode(refusal);
  if (code === "NOAUTH" || code === "WRONGPASS") return "Check user and password.";
  if (code === "NOPERM") return "Grant it to Drover's user with ACL SETUSER.";
  return redis instanceof Cluster
    ? "Is it a cluster? A single server has a URL without commas and ?cluster=true."
    : "See its log.";
}

function describeAddress(address: RedisAddress): string {
  return address.kind === "server"
    ? `Redis at ${address.host}`
    : `The Redis Cluster at ${address.nodes.map(({ host, port }) => `${host}:${port}`).join(", ")}`;
}
