import type { DeployableFunction } from "./deployable-function.ts";
import { parseDuration } from "../duration.ts";
import { serviceNameOf } from "./function-names.ts";
import {
  functionPodSpec,
  stopGraceOf,
  metricsVariables,
  serverVariables,
  duplicateVariable,
} from "./function-pod.ts";
import { leastPermissions, withPermissions } from "../access/least-permissions.ts";
import { runSettingsVariables } from "./run-settings-variables.ts";
import { reconcileFunctionOf } from "./reconcile-function-of.ts";
import type { ReconcileFunctionSpec } from "./reconcile-function.ts";
import type { Resource } from "../resource/resource.ts";

/** A function that cannot have a bridge in its process. The message contains the reason. */
export class NotEmbeddableError extends Error {
  override readonly name = "NotEmbeddableError";
}

const rbac = "rbac.authorization.k8s.io";

/**
 * The manifests of a function with a bridge in its process (`runEmbedded` of `@drover/embedded`): a ServiceAccount, the
 * least permissions, and a Deployment. The address of Redis comes from the key `url` of the Secret `<name>-redis`.
 *
 * @param namespace default: `default`.
 * @throws NotEmbeddableError for a deployment without a container, or with a feature of the cluster's bridges, the
 *   deployer or the gateway.
 * @throws ZodError for an invalid deployment.
 */
export function embeddedManifestsOf<R extends Resource>({
  controller,
  namespace = "default",
  readsSecrets,
  deployment = {},
}: DeployableFunction<R>): readonly object[] {
  const { metadata, spec } = reconcileFunctionOf(controller, deployment);
  const place = { name: metadata.name, namespace };
  const least = leastPermissions(controller, { namespace, readsSecrets, hasBridge: true });
  const { namespace: local, cluster } = withPermissions(least, spec.permissions);
  const timeout = spec.timeout === undefined ? controller.timeout : parseDuration(spec.timeout);
  return [
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { ...place, annotations: spec.container?.serviceAccount?.annotations },
    },
    ...(local === undefined ? [] : roleManifests(place, "Role", local)),
    ...(cluster === undefined ? [] : roleManifests(place, "ClusterRole", cluster)),
    deploymentOf(place, embeddable(spec), timeout),
  ];
}

interface NamespacedName {
  readonly name: string;
  readonly namespace: string;
}

/** A role and its binding to the function's ServiceAccount. A ClusterRole is named as the deployer names it. */
function roleManifests(
  { name, namespace }: NamespacedName,
  kind: "Role" | "ClusterRole",
  rules: readonly object[],
) {
  const metadata = kind === "Role" ? { name, namespace } : { name: `drover:${namespace}:${name}` };
  const apiVersion = `${rbac}/v1`;
  return [
    { apiVersion, kind, metadata, rules },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: rbac, kind, name: metadata.name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

/** Features that the cluster's bridges, the deployer or the gateway provide. */
const unsupportedFields = ["hooks", "campaign", "onRollout", "paused", "webhook"] as const;

const notEmbeddable = (problem: string) => new NotEmbeddableError(`deployment.${problem}`);

type Container = NonNullable<ReconcileFunctionSpec["container"]>;
type Embeddable = ReconcileFunctionSpec & { readonly container: Container };

function embeddable({ container, ...spec }: ReconcileFunctionSpec): Embeddable {
  if (container === undefined) throw notEmbeddable("container: name the image, as container: { image }.");
  const foreign = unsupportedFields.find((field) => spec[field] !== undefined);
  if (foreign !== undefined) {
    throw notEmbeddable(
      `${foreign}: a bridge in a function's process does not support it. Leave it out, or deploy the function.`,
    );
  }
  if (spec.delivery === "webhook") {
    throw notEmbeddable(
      "delivery: only a function that pulls can have a bridge in its process. Deploy this function.",
    );
  }
  return { ...spec, container };
}

/** @param timeout maximum duration of a run, ms. */
function deploymentOf(
  place: NamespacedName,
  { container, scaling, ...spec }: Embeddable,
  timeout: number,
): object {
  const labels = { "drover.dev/embedded": place.name };
  const grace = stopGraceOf(timeout);
  const probe = (path: string) => ({ httpGet: { path, port: "http" } });
  const own = container.env ?? [];
  const ours = [
    { name: "DROVER_REDIS_URL", valueFrom: { secretKeyRef: { name: `${place.name}-redis`, key: "url" } } },
    ...serverVariables(container, grace),
    ...metricsVariables(own),
    ...runSettingsVariables(spec),
  ];
  const twice = duplicateVariable(own, ours);
  if (twice !== undefined) throw notEmbeddable(`container.env: ${twice} is set by Drover. Leave it out.`);
  const pod = functionPodSpec({
    serviceAccountName: place.name,
    ownLabels: labels,
    container,
    grace,
    env: [...ours, ...own],
    probes: {
      readiness: { ...probe("/readyz"), periodSeconds: 2, timeoutSeconds: 3 },
      liveness: { ...probe("/healthz"), periodSeconds: 10, failureThreshold: 6 },
    },
  });
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...place, name: serviceNameOf(place.name) },
    spec: {
      replicas: Math.max(1, scaling?.min ?? 1), // several replicas share the work, without a leader
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...container.labels, ...labels }, annotations: container.annotations },
        spec: pod,
      },
    },
  };
}
