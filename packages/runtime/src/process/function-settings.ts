import type { QueueDurations } from "@drover/queue";
import { z } from "zod";
import {
  certificatesFile,
  durationInMs,
  flag,
  nonSecret,
  replacedBy,
  secretFile,
  wholeNumber,
} from "./settings.ts";

const redisUrl = z
  .string()
  .regex(/^rediss?:\/\/[^\s/]+/, { error: "give a URL such as redis://127.0.0.1:6379" });

/**
 * The settings of every process of Drover, as environment variables: `redisUrl` is `DROVER_REDIS_URL`. Durations have a
 * unit.
 */
export const processSettings = z.object({
  /** `redis://[user[:password]@]host:port[/db]` or `rediss://...`. */
  redisUrl,
  /** A file with the password of Redis. Better than a password in the URL, which process lists show. */
  redisPasswordFile: secretFile.optional(),
  /** A file with the certificates, as PEM, of the authorities that `rediss://` trusts. Default: those of Node. */
  redisCaFile: certificatesFile.optional(),
  /** A kubeconfig file. Default: KUBECONFIG, or the Pod's ServiceAccount. */
  kubeconfig: nonSecret(z.string().optional()),
  /** The context of the kubeconfig. Default: its current one. */
  kubeContext: nonSecret(z.string().optional()),
  /** The least level that is logged. */
  logLevel: nonSecret(z.enum(["debug", "info", "warn", "error"]).default("info")),
  /** The address that serves `/healthz`, `/readyz` and `/metrics`. */
  httpHost: nonSecret(z.string().default("127.0.0.1")),
  /** The port of `httpHost`. 0: any free port. */
  httpPort: nonSecret(wholeNumber({ least: 0, most: 65_535 }).default(0)),
  /**
   * Access to `/metrics`. `kubernetes`: senders of a token that may `get` the path. `none`: every sender that reaches
   * the port. Default: `none` if `httpHost` is loopback, else `kubernetes`.
   */
  metricsAuth: nonSecret(z.enum(["kubernetes", "none"]).optional()),
  /** Time for runs in progress to end after SIGTERM. */
  stopGrace: nonSecret(durationInMs.default(20_000)),
});
export type ProcessSettings = z.output<typeof processSettings>;

/** The settings of every process that takes keys: functions that pull, and the gateway. */
export const workerSettings = processSettings.extend({
  /** The key of a dead worker is taken over after this time. */
  lease: nonSecret(durationInMs.default(6_000)),
  /** How often a live worker renews the lease of its keys. */
  leaseRenewal: nonSecret(durationInMs.default(400)),
});
export type WorkerSettings = z.output<typeof workerSettings>;

/** The durations of a worker's queues. */
export const queueTimes = ({ lease, leaseRenewal }: WorkerSettings): Partial<QueueDurations> => ({
  lease,
  renewal: leaseRenewal,
});

/** A ReconcileFunction, as text: `<namespace>/<name>`, or with its uid `<namespace>/<name>/<uid>`. */
const registeredFunction = z
  .string()
  .regex(/^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}(\/[a-z0-9-]{1,64})?$/, {
    error: "give the namespace and name of its ReconcileFunction, such as web/websites.example.com",
  })
  .transform((text) => {
    const [namespace = "", name = "", uid] = text.split("/");
    return { namespace, name, uid };
  });

/** The URL of Redis in a process that answers a plan. No such host exists. */
const noRedis = "redis://no-redis-in-a-plan.invalid";

/** The settings of every function that pulls its keys. */
export const functionSettings = workerSettings.extend({
  /** As for every process. Not set in Pods of a plan. */
  redisUrl: replacedBy(redisUrl, "planSecrets", noRedis),
  /**
   * The folder with the secret of the calls of `drover plan --image`. If it is set, the process answers these, takes no
   * keys, and connects to neither Redis nor the API server. Only Pods of a plan have this setting.
   */
  planSecrets: nonSecret(z.string().optional()),
  /**
   * The ReconcileFunction that the process runs for, `<namespace>/<name>`. Its queue is that of the object, with the
   * object's uid, which is read from the API server. Default: the queue named after the controller; a bridge wakes keys
   * there if a file registers the function. Pods that the deployer creates have this setting, with the uid.
   */
  function: nonSecret(registeredFunction.optional()),
  /**
   * The session of `drover dev` that the process belongs to: it runs only objects with the label `drover.dev/dev` of
   * this value and a mark by this secret, and only once the deployed function has acknowledged that. Only `drover dev`
   * sets them.
   */
  devSession: nonSecret(z.string().min(1).optional()),
  /** The secret of that session. */
  devSecret: z.string().min(1).optional(),
  /** Runs at once. Default: as in the controller's code. */
  concurrency: nonSecret(wholeNumber({ least: 1, most: 10_000 }).optional()),
  /** How often an object is reconciled without a change. This and the settings below replace those of the controller's code. */
  resyncEvery: nonSecret(durationInMs.optional()),
  /** The longest time that a run may take. */
  timeout: nonSecret(durationInMs.optional()),
  /** The delay after the first failure. It doubles with each one, up to `retryLongest`. */
  retryFirst: nonSecret(durationInMs.optional()),
  /** The longest delay after a failure. */
  retryLongest: nonSecret(durationInMs.optional()),
  /** After this many failures in a row, an object is not run again until it changes. */
  retryAttempts: nonSecret(wholeNumber({ least: 1, most: 1_000_000 }).optional()),
  /** Runs that may start per second, for all processes of the function together. */
  runsPerSecond: nonSecret(
    z
      .string()
      .transform(Number)
      .refine((rate) => rate >= 0.001 && rate <= 1e6, { error: "give a number from 0.001 to 1,000,000" })
      .optional(),
  ),
  /** Runs that may start at once although `runsPerSecond` is lower. */
  runsBurst: nonSecret(wholeNumber({ least: 1, most: 1_000_000 }).optional()),
  /** `true`: the function scales to zero, so resyncs must not start it all the time. */
  rests: flag,
  /**
   * Increases with every rollout, as a Deployment's revision does: a key that a newer version has run is not given to
   * an older one.
   */
  rollout: nonSecret(wholeNumber({ least: 0, most: 2 ** 31 - 1 }).default(0)),
});
export type FunctionSettings = z.output<typeof functionSettings>;
