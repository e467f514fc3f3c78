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

/** The deployer's settings that the objects of every function depend on. */
export interface Surroundings {
  /** The Redis URL for Pods, without user or password. */
  readonly redisUrl: string;
  /** The CA certificates with which Pods verify Redis, as PEM. Undefined: those of their image. */
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
  /**
   * Fingerprint of the password or signing secret. A change is a new revision, because Pods read their password at
   * start.
   */
  readonly password: string;
}

/** The directories in which secrets are mounted. */
const folders = { redis: "/var/run/drover/redis", webhook: "/var/run/drover/webhook" } as const;

/** The spec of a function's Pods, without what depends on the revision. */
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

/** A called function may be written in any language, so it is healthy if its port accepts connections. */
const probe = (delivery: "pull" | "webhook", path: string) =>
  delivery === "pull" ? { httpGet: { path, port: "http" } } : { tcpSocket: { port: "http" } };

/**
 * Fingerprint of everything that Pods are made from. The number of Pods is not part of it. The CA certificates are,
 * because Pods read them at start.
 */
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

/** A pulling function reports its revision to the ledger, so that no key goes back to an older one. */
const rollout = (revision: number): Variable => ({ name: "DROVER_ROLLOUT", value: String(revision) });

/** @throws TerminalError if the spec sets a variable that Drover sets. */
function environment(of: TemplateOf): readonly Variable[] {
  const own = of.spec.container.env ?? [];
  const ours = of.spec.delivery === "webhook" ? webhookVariables(of) : pullVariables(of);
  const twice = setTwice(own, [{ name: "DROVER_ROLLOUT" }, ...ours]);
  if (twice !== undefined) {
    throw new TerminalError(
      `spec.container.env: ${twice} is set by Drover. Leave it out, and use the field of spec for its value.`,
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
