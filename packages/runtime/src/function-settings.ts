import { z } from "zod";
import { certificatesFile, flag, plain, secretFile, span, wholeNumber } from "./settings.ts";

const redisUrl = z
  .string()
  .regex(/^rediss?:\/\/[^\s/]+/, { error: "give a URL such as redis://127.0.0.1:6379" });

/**
 * The settings of every process of Drover, as environment variables: `redisUrl` is `DROVER_REDIS_URL`. Durations are
 * written with a unit.
 */
export const processSettings = z.object({
  /** `redis://[user[:password]@]host:port[/db]` or `rediss://...`. */
  redisUrl,
  /** A file with the password of Redis; better than one in the URL, which process lists show. */
  redisPasswordFile: secretFile.optional(),
  /** A file with the certificates, as PEM, of the authorities that `rediss://` believes. Left out: those of Node. */
  redisCaFile: certificatesFile.optional(),
  /** Left out: KUBECONFIG, or the pod's own ServiceAccount. */
  kubeconfig: plain(z.string().optional()),
  kubeContext: plain(z.string().optional()),
  logLevel: plain(z.enum(["debug", "info", "warn", "error"]).default("info")),
  /** Where `/healthz`, `/readyz` and `/metrics` are served. */
  httpHost: plain(z.string().default("127.0.0.1")),
  /** 0 takes a free one. */
  httpPort: plain(wholeNumber({ least: 0, most: 65_535 }).default(0)),
  /**
   * Who may read `/metrics`: with `kubernetes`, senders of a token that may `get` the path; with `none`, all who reach the
   * port. Left out: `none` where `httpHost` is loopback, else `kubernetes`.
   */
  metricsAuth: plain(z.enum(["kubernetes", "none"]).optional()),
  /** How long runs under way may take to end after SIGTERM. */
  stopGrace: plain(span.default(20_000)),
});
export type ProcessSettings = z.output<typeof processSettings>;

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

/** The settings of every function. */
export const functionSettings = processSettings.extend({
  /**
   * The ReconcileFunction of the cluster that the process runs for, `<namespace>/<name>`: its queue is that of the object,
   * whose uid is read from the API server. Left out: the process takes the keys of its controller's name, which a bridge
   * wakes that registers it by a file. Pods that the deployer makes have it, with the uid.
   */
  function: plain(registeredFunction.optional()),
  /** Runs at once; default as the controller says. */
  concurrency: plain(wholeNumber({ least: 1, most: 10_000 }).optional()),
  /** How its controller runs, where that is to be another way than its code says. */
  resyncEvery: plain(span.optional()),
  timeout: plain(span.optional()),
  retryFirst: plain(span.optional()),
  retryLongest: plain(span.optional()),
  retryAttempts: plain(wholeNumber({ least: 1, most: 1_000_000 }).optional()),
  /** Runs that may start, all processes of the function together. */
  runsPerSecond: plain(
    z
      .string()
      .transform(Number)
      .refine((rate) => rate >= 0.001 && rate <= 1e6, { error: "give a number from 0.001 to 1,000,000" })
      .optional(),
  ),
  runsBurst: plain(wholeNumber({ least: 1, most: 1_000_000 }).optional()),
  /** `true`: the function scales to zero, and is not to be started for resyncs all the time. */
  rests: flag,
  /** A dead worker's key is taken over after this time. */
  lease: plain(span.default(6_000)),
  leaseRenewal: plain(span.default(400)),
  /** Grows with every rollout, such as a Deployment's revision: a key that a newer one ran does not go back. */
  rollout: plain(wholeNumber({ least: 0, most: 2 ** 31 - 1 }).default(0)),
});
export type FunctionSettings = z.output<typeof functionSettings>;
