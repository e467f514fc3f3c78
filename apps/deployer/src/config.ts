import {
  defaultEgress,
  functionSettings,
  metadataNetworks,
  parseDestinations,
  parseNetworks,
  namespaceName,
  parseWith,
  partSettings,
  nonSecret,
  readSettings,
  redisUrlForPods,
  durationInMs,
  splitWords,
} from "@drover/runtime";
import { z } from "zod";

/** A ServiceAccount, as `namespace/name`. */
const account = (usual: string) =>
  nonSecret(
    z
      .string()
      .regex(/^[a-z0-9-]+\/[a-z0-9.-]+$/, { error: `give namespace and name, such as ${usual}` })
      .default(usual)
      .transform((text) => {
        const [namespace = "", name = ""] = text.split("/");
        return { namespace, name };
      }),
  );

/** All settings of the deployer. */
export const deployerSettings = functionSettings.extend({
  ...partSettings.shape,
  /** The Redis URL for Pods, without user or password. Default: this process's own URL, without its user. */
  functionsRedisUrl: redisUrlForPods.optional(),
  /** The URL at which autoscalers reach this process, such as http://deployer.drover:8080. */
  scalingUrl: z
    .string()
    .regex(/^https?:\/\/[^\s]+$/, { error: "give a URL such as http://deployer.drover:8080" })
    .optional(),
  /** Destinations of functions' Pods, in addition to DNS, Redis and the gateway: networks, and `pods`; or `none`. */
  functionsEgress: nonSecret(z.string().default(defaultEgress).transform(parseWith(parseDestinations))),
  /** Networks that these Pods may not connect to, except for what `functionsEgress` names in them; or `none`. */
  functionsEgressExcept: nonSecret(z.string().default(metadataNetworks).transform(parseWith(parseNetworks))),
  /** Namespaces with Pods that may read the metrics of functions, such as `monitoring`. */
  monitoringNamespaces: nonSecret(z.string().default("").transform(splitWords).pipe(z.array(namespaceName))),
  /** The ServiceAccount of the bridges, `namespace/name`. */
  bridgeAccount: account("drover/bridge"),
  /** The ServiceAccount of the gateways, `namespace/name`. */
  gatewayAccount: account("drover/gateway"),
  /**
   * `made`: this process makes the passwords and certificates of its Redis in its namespace, where they are absent, and
   * renews them. `given`: they exist.
   */
  redisSecrets: nonSecret(z.enum(["given", "made"]).default("given")),
  /** How often the deployer looks whether `redisSecrets` are absent or have to be renewed. */
  redisSecretsEvery: nonSecret(durationInMs.default(60_000)),
  /** How often permits are reviewed. A permission that its author loses is withdrawn within about 1.25 times this. */
  reviewEvery: nonSecret(durationInMs.default(20_000)),
  /** How often functions get new passwords and signing keys. */
  rotateEvery: nonSecret(durationInMs.default(20 * 86_400_000)),
  /** How often Redis is searched for keys and users of functions that no longer exist. */
  sweepEvery: nonSecret(durationInMs.default(60_000)),
  /** How often the number of Pods that each queue needs is computed. */
  scaleEvery: nonSecret(durationInMs.default(250)),
});

/**
 * The URL in a Pod's environment gets the Pod's user. A list of cluster nodes is not a URL that a user can be added to,
 * so it needs `functionsRedisUrl`, with one address.
 */
const settings = deployerSettings
  .refine(({ redisUrl, functionsRedisUrl }) => functionsRedisUrl !== undefined || URL.canParse(redisUrl), {
    path: ["functionsRedisUrl"],
  })
  .refine(
    ({ redisSecrets, redisUrl, redisPasswordFile, redisCaFile }) =>
      redisSecrets === "given" ||
      (/^rediss:\/\/[^:@,]+@[^,?]+$/.test(redisUrl) && !redisPasswordFile && !redisCaFile),
    {
      path: ["redisSecrets"],
      error:
        "for made, give the URL of one server with TLS and a user, such as rediss://deployer@valkey.drover:6379, and " +
        "neither a password nor DROVER_REDIS_PASSWORD_FILE nor DROVER_REDIS_CA_FILE",
    },
  );

export const functionConfig = () => readSettings(settings, process.env);
