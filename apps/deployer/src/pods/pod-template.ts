import {
  functionPodSpec,
  probesOf,
  stopGraceOf,
  metricsVariables,
  parseDuration,
  pulledFunctionVariable,
  redisVariables,
  runSettingsVariables,
  type ReconcileFunctionSpec,
  serverVariables,
  duplicateVariable,
  TerminalError,
  defaultRunSettings,
  defaultScaling,
  type EnvVar,
  webhookFolder,
  webhookSecretOf,
  functionLabel,
  webhookVariables,
} from "@drover/controller";
import type { FunctionNetwork } from "@drover/runtime";
import type { FunctionRef, ServiceAccountRef } from "../function-ref.ts";
import type { KedaSettings } from "../objects/keda-objects.ts";
import { caKey, digest, redisSecretName, redisUserName, podRevisionAnnotation } from "../names.ts";

/** The deployer's settings that the objects of every function depend on. */
export interface DeployEnvironment {
  /** The Redis URL for Pods, without user or password. */
  readonly redisUrl: string;
  /** The CA certificates with which Pods verify Redis, as PEM. Undefined: those of their image. */
  readonly redisCa: string | undefined;
  readonly bridge: ServiceAccountRef;
  readonly gateway: ServiceAccountRef;
  readonly keda: KedaSettings;
  readonly network: FunctionNetwork;
}

export interface PodTemplateInput {
  readonly functionRef: FunctionRef;
  readonly spec: ReconcileFunctionSpec & { readonly container: object };
  readonly environment: DeployEnvironment;
  /**
   * Fingerprint of the password or signing secret. A change is a new revision, because Pods read their password at
   * start.
   */
  readonly password: string;
}

/** The directory in which the password of Redis is mounted. */
const redisFolder = "/var/run/drover/redis";

/** The spec of a function's Pods, without what depends on the revision. */
export function podTemplate(of: PodTemplateInput) {
  const { functionRef, spec } = of;
  const { name } = functionRef;
  const { container, delivery = "pull", permissions } = spec;
  const pull = delivery === "pull";
  return {
    automountServiceAccountToken: pull || permissions !== undefined,
    restartPolicy: "Always",
    ...functionPodSpec({
      serviceAccountName: name,
      ownLabels: podLabels(functionRef),
      container,
      env: containerEnv(of),
      grace: runsEndWithin(spec),
      probes: probesOf(delivery),
      secrets: [
        {
          name: "drover",
          secretName: pull ? redisSecretName(name) : webhookSecretOf(name),
          mountPath: pull ? redisFolder : webhookFolder,
        },
      ],
    }),
  };
}

/**
 * Fingerprint of everything that Pods are made from. The number of Pods is not part of it. The CA certificates are,
 * because Pods read them at start.
 */
export const fingerprintOf = (of: PodTemplateInput): string => {
  const { labels, annotations } = of.spec.container;
  const added = labels === undefined && annotations === undefined ? [] : [{ labels, annotations }];
  return digest([podTemplate(of), of.password, of.environment.redisCa, ...added]);
};

const podLabels = ({ name }: Pick<FunctionRef, "name">) => ({ [functionLabel]: name });

/** The labels and annotations of a Pod, and its spec. */
export function podManifest(of: PodTemplateInput, revision: number) {
  const { containers, ...template } = podTemplate(of);
  return {
    labels: { ...of.spec.container.labels, ...podLabels(of.functionRef) },
    annotations: { ...of.spec.container.annotations, [podRevisionAnnotation]: String(revision) },
    spec: {
      ...template,
      containers: containers.map((one) => ({
        ...one,
        env: of.spec.delivery === "webhook" ? one.env : [rolloutVariable(revision), ...one.env],
      })),
    },
  };
}

/** A pulling function reports its revision to the ledger, so that no key goes back to an older one. */
const rolloutVariable = (revision: number): EnvVar => ({ name: "DROVER_ROLLOUT", value: String(revision) });

/** @throws TerminalError if the spec sets a variable that Drover sets. */
function containerEnv(of: PodTemplateInput): readonly EnvVar[] {
  const own = of.spec.container.env ?? [];
  const ours =
    of.spec.delivery === "webhook"
      ? webhookVariables(of.functionRef, of.spec.container, runsEndWithin(of.spec))
      : pullVariables(of);
  const twice = duplicateVariable(own, [{ name: "DROVER_ROLLOUT" }, ...ours]);
  if (twice !== undefined) {
    throw new TerminalError(
      `spec.container.env: ${twice} is set by Drover. Leave it out, and use the field of spec for its value.`,
      { reason: "InvalidSpec" },
    );
  }
  return [...ours, ...own];
}

function pullVariables({ functionRef, spec, environment }: PodTemplateInput): readonly EnvVar[] {
  const { container, scaling } = spec;
  const url = new URL(environment.redisUrl);
  url.username = redisUserName(functionRef);
  return [
    ...serverVariables(container, runsEndWithin(spec)),
    pulledFunctionVariable(functionRef),
    { name: redisVariables.url, value: url.href },
    { name: redisVariables.passwordFile, value: `${redisFolder}/password` },
    ...(environment.redisCa === undefined
      ? []
      : [{ name: redisVariables.caFile, value: `${redisFolder}/${caKey}` }]),
    ...((scaling ?? defaultScaling).min === 0 ? [{ name: "DROVER_RESTS", value: "true" }] : []),
    ...metricsVariables(container.env ?? []),
    ...runSettingsVariables(spec),
  ];
}

const runsEndWithin = ({ timeout = defaultRunSettings.timeout }: PodTemplateInput["spec"]): number =>
  stopGraceOf(parseDuration(timeout));
