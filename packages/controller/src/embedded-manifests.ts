import type { DeployableFunction } from "./deployable-function.ts";
import { milliseconds } from "./duration.ts";
import { leastPermissions, withPermissions } from "./least-permissions.ts";
import { paceVariables } from "./pace-variables.ts";
import { reconcileFunctionOf, type ReconcileFunctionSpec } from "./reconcile-function.ts";
import type { Resource } from "./resource.ts";

/** A function that cannot have a bridge in its process, and why. */
export class NotEmbeddableError extends Error {
  override readonly name = "NotEmbeddableError";
}

/** What a process takes to end beyond its longest run, ms. */
const lastMoments = 10_000;
const rbac = "rbac.authorization.k8s.io";
/** The group that may read its secrets, and the user of our images. */
const nobody = 65_532;

/**
 * What runs a function with a bridge in its process (`runEmbedded` of `@drover/embedded`): ServiceAccount, the least
 * permissions, and a Deployment. Where Redis is, is said by the key `url` of the Secret `<name>-redis`.
 *
 * @param namespace default: `default`.
 * @throws NotEmbeddableError where there is no container, or what only a bridge of the cluster or the deployer does is asked for.
 * @throws ZodError for a deployment that is none.
 */
export function embeddedManifestsOf<R extends Resource>({
  controller,
  namespace = "default",
  readsSecrets,
  deployment = {},
}: DeployableFunction<R>): readonly object[] {
  const { metadata, spec } = reconcileFunctionOf(controller, deployment);
  const place = { name: metadata.name, namespace };
  const least = leastPermissions(controller, { namespace, readsSecrets, follows: true });
  const { namespace: local, cluster } = withPermissions(least, spec.permissions);
  const timeout = spec.timeout === undefined ? controller.timeout : milliseconds(spec.timeout);
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: place },
    ...(local === undefined ? [] : granted(place, "Role", local)),
    ...(cluster === undefined ? [] : granted(place, "ClusterRole", cluster)),
    deploymentOf(place, embeddable(spec), timeout + lastMoments),
  ];
}

interface Place {
  readonly name: string;
  readonly namespace: string;
}

/** A role and its binding to the function's ServiceAccount. What is cluster-scoped is named as by the deployer. */
function granted({ name, namespace }: Place, kind: "Role" | "ClusterRole", rules: readonly object[]) {
  const metadata = kind === "Role" ? { name, namespace } : { name: `drover:${namespace}:${name}` };
  const apiVersion = `${rbac}/v1`;
  return [
    { apiVersion, kind, metadata, rules },
    {
      ...{ apiVersion, kind: `${kind}Binding`, metadata },
      roleRef: { apiGroup: rbac, kind, name: metadata.name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

/** What the cluster's bridges, the deployer or the gateway do. */
const notHere = ["hooks", "campaign", "onRollout", "paused", "webhook"] as const;

type Container = NonNullable<ReconcileFunctionSpec["container"]>;
type Embeddable = ReconcileFunctionSpec & { readonly container: Container };

function embeddable({ container, ...spec }: ReconcileFunctionSpec): Embeddable {
  const refused = (problem: string) => new NotEmbeddableError(`deployment.${problem}`);
  if (container === undefined) throw refused("container: say which image it is, with container: { image }.");
  const foreign = notHere.find((field) => spec[field] !== undefined);
  if (foreign !== undefined) {
    throw refused(
      `${foreign}: a bridge in a function's process does not do that. Leave it out, or deploy the function.`,
    );
  }
  if (spec.delivery === "webhook") {
    throw refused("delivery: who is called has no process of Drover's that a bridge could be in. Deploy it.");
  }
  return { ...spec, container };
}

/** @param grace how long its runs may take to end, ms. */
function deploymentOf(place: Place, { container, scaling, ...spec }: Embeddable, grace: number): object {
  const labels = { "drover.dev/embedded": place.name };
  const { image, imagePullPolicy, command, args, resources, imagePullSecrets, nodeSelector, tolerations } =
    container;
  const { env = [], volumes = [], port = 8_080 } = container;
  const probe = (path: string) => ({ httpGet: { path, port: "http" } });
  const pod = {
    ...{ serviceAccountName: place.name, enableServiceLinks: false },
    terminationGracePeriodSeconds: Math.ceil((grace + lastMoments) / 1_000),
    securityContext: { runAsNonRoot: true, fsGroup: nobody, seccompProfile: { type: "RuntimeDefault" } },
    ...{ imagePullSecrets, nodeSelector, tolerations },
    containers: [
      {
        ...{ name: "function", image, imagePullPolicy, command, args, resources },
        env: [
          {
            name: "DROVER_REDIS_URL",
            valueFrom: { secretKeyRef: { name: `${place.name}-redis`, key: "url" } },
          },
          { name: "DROVER_HTTP_HOST", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
          { name: "DROVER_HTTP_PORT", value: String(port) },
          { name: "DROVER_STOP_GRACE", value: `${grace}ms` },
          ...paceVariables(spec),
          ...env,
        ],
        ports: [{ name: "http", containerPort: port }],
        readinessProbe: { ...probe("/readyz"), periodSeconds: 2, timeoutSeconds: 3 },
        livenessProbe: { ...probe("/healthz"), periodSeconds: 10, failureThreshold: 6 },
        securityContext: {
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
          capabilities: { drop: ["ALL"] },
        },
        ...(volumes.length > 0 && {
          volumeMounts: volumes.map(({ name, mountPath, emptyDir }) => ({
            ...{ name, mountPath, readOnly: emptyDir === undefined },
          })),
        }),
      },
    ],
    ...(volumes.length > 0 && { volumes: volumes.map(({ mountPath, ...volume }) => volume) }),
  };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: place },
    spec: {
      replicas: Math.max(1, scaling?.min ?? 1), // several share the work, and none of them leads
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pod },
    },
  };
}
