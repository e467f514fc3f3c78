import type { ContainerDeclaration } from "./function-deployment.ts";

export type Variable = NonNullable<ContainerDeclaration["env"]>[number];

export interface FunctionPod {
  readonly serviceAccountName: string;
  readonly container: ContainerDeclaration;
  /** All of its environment. */
  readonly env: readonly Variable[];
  /** How long its runs may take to end, ms. */
  readonly grace: number;
  readonly probes: { readonly readiness: object; readonly liveness: object };
  /** Secrets of Drover's, beside what the container mounts itself. */
  readonly secrets?: readonly {
    readonly name: string;
    readonly secretName: string;
    readonly mountPath: string;
  }[];
}

/** What a process takes to end beyond its runs, ms. */
const lastMoments = 10_000;
/** The group that may read its secrets, and the user of our images. */
const nobody = 65_532;

/**
 * Default of `container.resources`. Requests keep a share of the node for the container; limits keep the node's memory and disk
 * for others. The processor has no limit: idle time is free to use.
 */
const usualResources = {
  requests: { cpu: "50m", memory: "96Mi" },
  limits: { memory: "512Mi", "ephemeral-storage": "1Gi" },
};

/** How long the runs of a function may take to end that last for `timeout` ms at most. */
export const graceOf = (timeout: number): number => timeout + lastMoments;

/** Where a function's container serves, unless it says otherwise. */
export const portOf = ({ port = 8_080 }: Pick<ContainerDeclaration, "port">): number => port;

/** What every function's process is told: where it serves, and how long its runs may take to end, ms. */
export const servedVariables = (
  container: Pick<ContainerDeclaration, "port">,
  grace: number,
): readonly Variable[] => [
  { name: "DROVER_HTTP_HOST", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
  { name: "DROVER_HTTP_PORT", value: String(portOf(container)) },
  { name: "DROVER_STOP_GRACE", value: `${grace}ms` },
];

const metricsAuth = "DROVER_METRICS_AUTH";

/**
 * Leaves the metrics of a pulling function's Pod open to all who reach its port, unless the function's own variables say
 * otherwise. The Pod shows the figures of its own function alone; and a scraper must not send its token into a Pod whose
 * image an author chose: the Pod could use the token.
 */
export const metricsVariables = (own: readonly Pick<Variable, "name">[]): readonly Variable[] =>
  own.some(({ name }) => name === metricsAuth) ? [] : [{ name: metricsAuth, value: "none" }];

/** A variable of a container's own that Drover sets, too: the one that comes last would win, in silence. */
export const setTwice = (
  own: readonly Variable[],
  ours: readonly Pick<Variable, "name">[],
): string | undefined => own.find(({ name }) => ours.some((one) => one.name === name))?.name;

/** The spec of a function's Pods: not root, nothing writable, no capability. */
export function functionPod({
  serviceAccountName,
  container,
  env,
  grace,
  probes,
  secrets = [],
}: FunctionPod) {
  const { image, imagePullPolicy, command, args, resources = usualResources, volumes = [] } = container;
  const { imagePullSecrets, nodeSelector, tolerations } = container;
  return {
    serviceAccountName,
    // DROVER_SERVICE_HOST, of a Service called drover, would be refused as a setting that nobody knows.
    enableServiceLinks: false,
    terminationGracePeriodSeconds: Math.ceil((grace + lastMoments) / 1_000),
    securityContext: { runAsNonRoot: true, fsGroup: nobody, seccompProfile: { type: "RuntimeDefault" } },
    imagePullSecrets,
    nodeSelector,
    tolerations,
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
