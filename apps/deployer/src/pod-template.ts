import {
  functionPod,
  graceOf,
  metricsVariables,
  milliseconds,
  paceVariables,
  type ReconcileFunctionSpec,
  servedVariables,
  setTwice,
  TerminalError,
  usualPace,
  usualScaling,
  type Variable,
  webhookSecretOf,
} from "@drover/controller";
import type { FunctionNetwork } from "./function-policy.ts";
import type { Home, PartAccount } from "./home.ts";
import type { KedaSettings } from "./keda-objects.ts";
import { caKey, digest, functionLabel, redisSecretOf, redisUserOf, revisionAnnotation } from "./names.ts";

/** What every Pod of a function is told of the world around it. */
export interface Surroundings {
  /** Redis, as Pods reach it: without user or password. */
  readonly redisUrl: string;
  /** Certificates of the authorities that Pods believe of Redis, PEM; undefined: those of their image. */
  readonly redisCa: string | undefined;
  readonly bridge: PartAccount;
  readonly gateway: PartAccount;
  readonly keda: KedaSettings;
  readonly network: FunctionNetwork;
}

export interface TemplateOf {
  readonly home: Home;
  readonly spec: ReconcileFunctionSpec & { readonly container: object };
  readonly surroundings: Surroundings;
  /** Another one is a new revision: Pods read their password when they start. */
  readonly password: string;
}

/** Where a Pod finds its secrets. */
const folders = { redis: "/var/run/drover/redis", webhook: "/var/run/drover/webhook" } as const;

/** The spec of a function's Pods, but for what a revision adds. */
export function podTemplate(of: TemplateOf) {
  const { home, spec } = of;
  const { name } = home;
  const { container, delivery = "pull", permissions } = spec;
  const pull = delivery === "pull";
  return {
    automountServiceAccountToken: pull || permissions !== undefined,
    restartPolicy: "Always",
    ...functionPod({
      serviceAccountName: name,
      container,
      env: environment(of),
      grace: runsEndWithin(spec),
      probes: {
        readiness: { ...probe(delivery, "/readyz"), periodSeconds: 1, timeoutSeconds: 3 },
        liveness: { ...probe(delivery, "/healthz"), periodSeconds: 10, failureThreshold: 6 },
      },
      secrets: [
        {
          name: "drover",
          secretName: pull ? redisSecretOf(name) : webhookSecretOf(name),
          mountPath: pull ? folders.redis : folders.webhook,
        },
      ],
    }),
  };
}

/** Who is called may be written in anything: it is well when it listens. */
const probe = (delivery: "pull" | "webhook", path: string) =>
  delivery === "pull" ? { httpGet: { path, port: "http" } } : { tcpSocket: { port: "http" } };

/** Of what Pods are made after; changes of the number of Pods change nothing here. Pods read certificates when they start. */
export const fingerprintOf = (of: TemplateOf): string =>
  digest([podTemplate(of), of.password, of.surroundings.redisCa]);

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
  const twice = setTwice(own, [{ name: "DROVER_ROLLOUT" }, ...ours]);
  if (twice !== undefined) {
    throw new TerminalError(
      `spec.container.env: ${twice} is set by Drover. Leave it out; spec has a field for what it says.`,
      { reason: "InvalidSpec" },
    );
  }
  return [...ours, ...own];
}

function pullVariables({ home, spec, surroundings }: TemplateOf): readonly Variable[] {
  const { container, scaling } = spec;
  const url = new URL(surroundings.redisUrl);
  url.username = redisUserOf(home);
  return [
    ...servedVariables(container, runsEndWithin(spec)),
    { name: "DROVER_FUNCTION", value: `${home.namespace}/${home.name}/${home.uid}` },
    { name: "DROVER_REDIS_URL", value: url.href },
    { name: "DROVER_REDIS_PASSWORD_FILE", value: `${folders.redis}/password` },
    ...(surroundings.redisCa === undefined
      ? []
      : [{ name: "DROVER_REDIS_CA_FILE", value: `${folders.redis}/${caKey}` }]),
    ...((scaling ?? usualScaling).min === 0 ? [{ name: "DROVER_RESTS", value: "true" }] : []),
    ...metricsVariables(container.env ?? []),
    ...paceVariables(spec),
  ];
}

const webhookVariables = ({ home, spec }: TemplateOf): readonly Variable[] => [
  ...servedVariables(spec.container, runsEndWithin(spec)),
  { name: "DROVER_WEBHOOK_SECRETS", value: folders.webhook },
  { name: "DROVER_WEBHOOK_AUDIENCE", value: `${home.namespace}/${home.name}` },
  { name: "DROVER_WEBHOOK_UID", value: home.uid },
];

const runsEndWithin = ({ timeout = usualPace.timeout }: TemplateOf["spec"]): number =>
  graceOf(milliseconds(timeout));
