import {
  milliseconds,
  paceVariables,
  type ReconcileFunctionSpec,
  TerminalError,
  webhookSecretOf,
  usualPace,
  usualScaling,
} from "@drover/controller";
import type { Home } from "./home.ts";
import type { GatewayAccount } from "./gateway-roles.ts";
import { digest, functionLabel, redisSecretOf, redisUserOf, revisionAnnotation } from "./names.ts";

/** What every Pod of a function is told of the world around it. */
export interface Surroundings {
  /** Redis, as Pods reach it: without user or password. */
  readonly redisUrl: string;
  /** Where autoscalers ask how many Pods a function should have. */
  readonly scalingUrl?: string;
  readonly gateway: GatewayAccount;
}

export interface TemplateOf {
  readonly home: Home;
  readonly spec: ReconcileFunctionSpec & { readonly container: object };
  readonly surroundings: Surroundings;
  /** Another one is a new revision: Pods read their password when they start. */
  readonly password: string;
}

type Container = NonNullable<ReconcileFunctionSpec["container"]>;
type Variable = NonNullable<Container["env"]>[number];

/** Where a Pod finds its secrets. */
const folders = { redis: "/var/run/drover/redis", webhook: "/var/run/drover/webhook" } as const;
/** The group that may read them, and the user of our images. */
const nobody = 65_532;
/** What a Pod may take to end beyond its longest run. */
const lastMoments = 10_000;

/** The spec of a function's Pods, but for what a revision adds. */
export function podTemplate(of: TemplateOf) {
  const { home, spec } = of;
  const { name } = home;
  const { container, delivery = "pull", permissions, timeout = usualPace.timeout } = spec;
  const pull = delivery === "pull";
  const volumes = container.volumes ?? [];
  return {
    serviceAccountName: name,
    automountServiceAccountToken: pull || permissions !== undefined,
    // DROVER_SERVICE_HOST, of a Service called drover, would be refused as a setting that nobody knows.
    enableServiceLinks: false,
    restartPolicy: "Always",
    terminationGracePeriodSeconds: Math.ceil((milliseconds(timeout) + 2 * lastMoments) / 1_000),
    securityContext: {
      runAsNonRoot: true,
      fsGroup: nobody,
      seccompProfile: { type: "RuntimeDefault" },
    },
    imagePullSecrets: container.imagePullSecrets,
    nodeSelector: container.nodeSelector,
    tolerations: container.tolerations,
    containers: [
      {
        name: "function",
        image: container.image,
        imagePullPolicy: container.imagePullPolicy,
        command: container.command,
        args: container.args,
        env: environment(of),
        ports: [{ name: "http", containerPort: portOf(container) }],
        resources: container.resources,
        readinessProbe: { ...probe(delivery, "/readyz"), periodSeconds: 1, timeoutSeconds: 3 },
        livenessProbe: {
          ...probe(delivery, "/healthz"),
          periodSeconds: 10,
          failureThreshold: 6,
        },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        volumeMounts: [
          { name: "drover", mountPath: pull ? folders.redis : folders.webhook, readOnly: true },
          ...volumes.map((one) => ({ name: one.name, mountPath: one.mountPath, readOnly: !one.emptyDir })),
        ],
      },
    ],
    volumes: [
      {
        name: "drover",
        secret: { secretName: pull ? redisSecretOf(name) : webhookSecretOf(name), defaultMode: 0o440 },
      },
      ...volumes.map(({ name: volume, secret, configMap, emptyDir }) => ({
        ...{ name: volume, secret, configMap },
        ...(secret === undefined && configMap === undefined && { emptyDir: emptyDir ?? {} }),
      })),
    ],
  };
}

/** Who is called may be written in anything: it is well when it listens. */
const probe = (delivery: "pull" | "webhook", path: string) =>
  delivery === "pull" ? { httpGet: { path, port: "http" } } : { tcpSocket: { port: "http" } };

/** Where a function's container serves, unless it says otherwise. */
export const portOf = ({ port = 8_080 }: Pick<Container, "port">): number => port;

/** Of what Pods are made after; changes of the number of Pods change nothing here. */
export const fingerprintOf = (of: TemplateOf): string => digest([podTemplate(of), of.password]);

/** The labels and annotations of a Pod, and its spec. */
export function podOf(of: TemplateOf, revision: number) {
  const { containers, ...template } = podTemplate(of);
  return {
    labels: { [functionLabel]: of.home.name },
    annotations: { [revisionAnnotation]: String(revision) },
    spec: {
      ...template,
      containers: containers.map((one) => ({
        ...one,
        env: of.spec.delivery === "webhook" ? one.env : [rollout(revision), ...one.env],
      })),
    },
  };
}

/** Who pulls says of which revision it is, so that no key goes back to an older one. */
const rollout = (revision: number): Variable => ({ name: "DROVER_ROLLOUT", value: String(revision) });

/** @throws TerminalError when a variable of the function's own is one that Drover sets. */
function environment(of: TemplateOf): readonly Variable[] {
  const own = of.spec.container.env ?? [];
  const ours = of.spec.delivery === "webhook" ? webhookVariables(of) : pullVariables(of);
  const twice = own.find(({ name }) => name === "DROVER_ROLLOUT" || ours.some((one) => one.name === name));
  if (twice !== undefined) {
    throw new TerminalError(
      `spec.container.env: ${twice.name} is set by Drover. Leave it out; spec has a field for what it says.`,
      { reason: "InvalidSpec" },
    );
  }
  return [...ours, ...own];
}

function pullVariables({ home, spec, surroundings }: TemplateOf): readonly Variable[] {
  const { container, scaling } = spec;
  const url = new URL(surroundings.redisUrl);
  url.username = redisUserOf(home.name);
  return [
    ...served(container),
    ...variable("DROVER_REDIS_URL", url.href),
    ...variable("DROVER_REDIS_PASSWORD_FILE", `${folders.redis}/password`),
    ...variable("DROVER_STOP_GRACE", graceOf(spec)),
    ...variable("DROVER_RESTS", (scaling ?? usualScaling).min === 0 ? "true" : undefined),
    ...paceVariables(spec),
  ];
}

const webhookVariables = ({ home, spec }: TemplateOf): readonly Variable[] => [
  ...served(spec.container),
  ...variable("DROVER_WEBHOOK_SECRETS", folders.webhook),
  ...variable("DROVER_WEBHOOK_AUDIENCE", `${home.namespace}/${home.name}`),
  ...variable("DROVER_WEBHOOK_UID", home.uid),
  ...variable("DROVER_STOP_GRACE", graceOf(spec)),
];

/** How long runs under way may take to end. */
const graceOf = ({ timeout = usualPace.timeout }: TemplateOf["spec"]): string =>
  `${milliseconds(timeout) + lastMoments}ms`;

const served = (container: Pick<Container, "port">): readonly Variable[] => [
  { name: "DROVER_HTTP_HOST", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
  ...variable("DROVER_HTTP_PORT", portOf(container)),
];

const variable = (name: string, value: string | number | undefined): readonly Variable[] =>
  value === undefined ? [] : [{ name, value: String(value) }];
