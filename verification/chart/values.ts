import { z } from "zod";
import { bridgeSettings } from "../../apps/bridge/src/config.ts";
import { deployerSettings } from "../../apps/deployer/src/config.ts";
import { gatewaySettings } from "../../apps/gateway/src/config.ts";

/** Settings that the chart itself sets, or that name files that it does not mount. */
const ofChart = new Set([
  ...["redisUrl", "redisPasswordFile", "redisCaFile", "redisSecrets", "tenantsFile", "namespace", "function"],
  ...["httpHost", "httpPort", "completionsHost", "completionsPort", "bridgeAccount", "gatewayAccount"],
  ...["kubeconfig", "kubeContext", "functions", "hookSecrets", "scalingUrl", "rollout", "rests"],
  ...["planSecrets", "devSession", "devSecret"],
]);

/** The settings of a process, by their names in the code: text as in the environment, or a number or flag of YAML. */
const settingsOf = ({ shape }: z.ZodObject) =>
  z
    .strictObject(
      Object.fromEntries(
        Object.keys(shape)
          .filter((name) => !ofChart.has(name))
          .map((name) => [name, z.union([z.string(), z.number(), z.boolean()]).optional()]),
      ),
    )
    .prefault({});

const resources = z.looseObject({}).describe("as in a container");
const part = (settings: z.ZodObject) =>
  z.strictObject({ replicas: z.int().min(1), settings: settingsOf(settings), resources });
const text = z.string();
const name = z.string().min(1);

/** The values of the chart. */
export const chartValues = z.strictObject({
  /** Helm adds it where the chart is a part of another. */
  global: z.looseObject({}).optional(),
  bridge: part(bridgeSettings),
  deployer: part(deployerSettings),
  gateway: part(gatewaySettings).extend({ enabled: z.boolean() }),
  valkey: z.strictObject({
    enabled: z.boolean(),
    clusterIP: text,
    maxmemory: z.string().regex(/^\d+(mb|gb)$/),
    storage: z.strictObject({ persistent: z.boolean(), size: name, className: text }),
    resources,
  }),
  redis: z.strictObject({
    url: z.string().regex(/^$|^rediss?:\/\/[^\s@/]+(\?cluster=true)?$/),
    caConfigMap: text,
  }),
  tenants: z.strictObject({ enabled: z.boolean() }),
  images: z.strictObject({
    registry: text,
    pullPolicy: z.enum(["Always", "IfNotPresent", "Never"]),
    pullSecrets: z.array(z.strictObject({ name })),
    bridge: name,
    deployer: name,
    gateway: name,
    valkey: name,
  }),
  createNamespace: z.boolean(),
  priorityClassName: text,
  nodeSelector: z.record(z.string(), z.string()),
  tolerations: z.array(z.looseObject({})),
  networkPolicies: z.strictObject({
    enabled: z.boolean(),
    monitoringNamespace: name,
    ingressNamespace: name,
    redis: z.array(name),
    redisPort: z.int(),
  }),
  keda: z.strictObject({ enabled: z.boolean(), namespace: name }),
  serviceMonitor: z.strictObject({ enabled: z.boolean(), labels: z.record(z.string(), z.string()) }),
});
