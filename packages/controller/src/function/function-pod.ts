import type { ContainerDeclaration } from "./deployment-declarations.ts";
import type { FunctionIdentity } from "./function-identity.ts";

export type EnvVar = NonNullable<ContainerDeclaration["env"]>[number];

export interface FunctionPodOptions {
  readonly serviceAccountName: string;
  /** The labels of its Pods, and of no others in its namespace. */
  readonly ownLabels: Readonly<Record<string, string>>;
  readonly container: ContainerDeclaration;
  /** Its complete environment. */
  readonly env: readonly EnvVar[];
  /** Time for its runs to end when the process stops, ms. */
  readonly grace: number;
  readonly probes: { readonly readiness: object; readonly liveness: object };
  /** Drover's own Secrets, in addition to the container's volumes. */
  readonly secrets?: readonly {
    readonly name: string;
    readonly secretName: string;
    readonly mountPath: string;
  }[];
}

/** Time for a process to end after its runs, ms. */
const closeTimeout = 10_000;
/** The group that may read the mounted Secrets, and the user in Drover's images. */
const nonRootId = 65_532;

/**
 * Default of `container.resources`. Requests reserve a share of the node for the container; limits protect the node's
 * memory and disk. The CPU has no limit, so that idle CPU time can be used.
 */
const defaultResources = {
  requests: { cpu: "50m", memory: "96Mi" },
  limits: { memory: "512Mi", "ephemeral-storage": "1Gi" },
};

/** Time for the runs of a function to end when its process stops, ms, if a run lasts `timeout` ms at most. */
export const stopGraceOf = (timeout: number): number => timeout + closeTimeout;

/** The port on which a function's container serves. Default: 8080. */
export const portOf = ({ port = 8_080 }: Pick<ContainerDeclaration, "port">): number => port;

/**
 * Environment variables of every function's process: its address and port, and the time for its runs to end.
 *
 * @param grace ms.
 */
export const serverVariables = (
  container: Pick<ContainerDeclaration, "port">,
  grace: number,
): readonly EnvVar[] => [
  { name: "DROVER_HTTP_HOST", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
  { name: "DROVER_HTTP_PORT", value: String(portOf(container)) },
  { name: "DROVER_STOP_GRACE", value: `${grace}ms` },
];

/** The folder of a called function with the secrets that it verifies. */
export const webhookFolder = "/var/run/drover/webhook";

/**
 * Environment variables of the process of a function that is called, in addition to its own.
 *
 * @param grace ms.
 */
export const webhookVariables = (
  { namespace = "default", name, uid }: FunctionIdentity & { readonly uid: string },
  container: Pick<ContainerDeclaration, "port">,
  grace: number,
): readonly EnvVar[] => [
  ...serverVariables(container, grace),
  { name: "DROVER_WEBHOOK_SECRETS", value: webhookFolder },
  { name: "DROVER_WEBHOOK_AUDIENCE", value: `${namespace}/${name}` },
  { name: "DROVER_WEBHOOK_UID", value: uid },
];

/** Names the function that a process which pulls runs for. */
export const pulledFunctionVariable = ({
  namespace = "default",
  name,
  uid,
}: FunctionIdentity & { readonly uid: string }): EnvVar => ({
  name: "DROVER_FUNCTION",
  value: `${namespace}/${name}/${uid}`,
});

/** The variables with which a process that pulls connects to Redis. Only the deployer sets them. */
export const redisVariables = {
  url: "DROVER_REDIS_URL",
  passwordFile: "DROVER_REDIS_PASSWORD_FILE",
  caFile: "DROVER_REDIS_CA_FILE",
} as const;

/**
 * Environment variables of a process that pulls, in the Pod of a plan: it answers calls, and takes no keys.
 *
 * @param grace ms.
 */
export const planVariables = (
  identity: FunctionIdentity & { readonly uid: string },
  container: Pick<ContainerDeclaration, "port">,
  grace: number,
): readonly EnvVar[] => [
  ...serverVariables(container, grace),
  pulledFunctionVariable(identity),
  { name: "DROVER_PLAN_SECRETS", value: webhookFolder },
];

/** A called function may be written in any language, so it is healthy if its port accepts connections. */
const probeOf = (delivery: "pull" | "webhook", path: string) =>
  delivery === "pull" ? { httpGet: { path, port: "http" } } : { tcpSocket: { port: "http" } };

/** The probes of a function's container: a Pod of it is Ready when it can take keys, or calls. */
export const probesOf = (delivery: "pull" | "webhook"): FunctionPodOptions["probes"] => ({
  readiness: { ...probeOf(delivery, "/readyz"), periodSeconds: 1, timeoutSeconds: 3 },
  liveness: { ...probeOf(delivery, "/healthz"), periodSeconds: 10, failureThreshold: 6 },
});

const metricsAuth = "DROVER_METRICS_AUTH";

/**
 * Turns off authentication of the metrics in a pulling function's Pod, unless the function's own variables configure
 * it. The Pod exposes only the figures of its own function. And a scraper must not send its token to a Pod that runs an
 * author's image: the Pod could use the token.
 */
export const metricsVariables = (own: readonly Pick<EnvVar, "name">[]): readonly EnvVar[] =>
  own.some(({ name }) => name === metricsAuth) ? [] : [{ name: metricsAuth, value: "none" }];

/** The name of a variable that both the container and Drover set, if any: the later one would silently win. */
export const duplicateVariable = (
  own: readonly EnvVar[],
  ours: readonly Pick<EnvVar, "name">[],
): string | undefined => own.find(({ name }) => ours.some((one) => one.name === name))?.name;

/** The spec of a function's Pods: no root user, a read-only root file system, no capabilities. */
export function functionPodSpec({
  serviceAccountName,
  ownLabels,
  container,
  env,
  grace,
  probes,
  secrets = [],
}: FunctionPodOptions) {
  const { image, imagePullPolicy, command, args, resources = defaultResources, volumes = [] } = container;
  const { imagePullSecrets, nodeSelector, tolerations, affinity, priorityClassName } = container;
  return {
    serviceAccountName,
    // DROVER_SERVICE_HOST, which a Service named drover would add, would be refused as an unknown setting.
    enableServiceLinks: false,
    terminationGracePeriodSeconds: Math.ceil((grace + closeTimeout) / 1_000),
    securityContext: { runAsNonRoot: true, fsGroup: nonRootId, seccompProfile: { type: "RuntimeDefault" } },
    imagePullSecrets,
    nodeSelector,
    tolerations,
    affinity,
    priorityClassName,
    topologySpreadConstraints: container.topologySpreadConstraints?.map((constraint) => ({
      ...constraint,
      labelSelector: constraint.labelSelector ?? { matchLabels: ownLabels },
    })),
    containers: [
      {
        name: "function",
        image,
        imagePullPolicy,
        command,
        args,
        env,
        resources,
        ports: [{ name: "http", containerPort: portOf(container) }],
        readinessProbe: probes.readiness,
        livenessProbe: probes.liveness,
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        volumeMounts: [
          ...secrets.map(({ name, mountPath }) => ({ name, mountPath, readOnly: true })),
          ...volumes.map(({ name, mountPath, emptyDir }) => ({ name, mountPath, readOnly: !emptyDir })),
        ],
      },
    ],
    volumes: [
      ...secrets.map(({ name, secretName }) => ({ name, secret: { secretName, defaultMode: 0o440 } })),
      ...volumes.map(({ name, secret, configMap, emptyDir }) => ({
        name,
        secret,
        configMap,
        ...(secret === undefined && configMap === undefined && { emptyDir: emptyDir ?? {} }),
      })),
    ],
  };
}
