import {
  type DeployableFunction,
  functionLabel,
  functionPodSpec,
  grantedPermissions,
  metricsVariables,
  probesOf,
  ReconcileFunction,
  reconcileFunctionOf,
  redisVariables,
  serverVariables,
  stopGraceOf,
} from "@drover/controller";
import { functionPolicy, metadataNetworks, parseDestinations, parseNetworks } from "@drover/runtime";

/** The namespace of the process and of its functions. Users that may write in it can act as these functions. */
export const namespace = "workload-controllers";
const name = "controller-manager";
const rbac = "rbac.authorization.k8s.io";
/** Redis' NetworkPolicy admits Pods with this label. */
const labels = { [functionLabel]: name };
/** The namespace of the installation. */
const droverNamespace = "drover";
const redisUrl = `rediss://${name}@valkey.${droverNamespace}:6379`;

/**
 * The manifests with which an operator runs functions in one process. Each function is registered by a ReconcileFunction
 * without a container, and has a ServiceAccount with the permissions of its own `deploy/function.yaml`. The process may
 * act as these accounts and read these ReconcileFunctions, and nothing else.
 */
export const manifestsOf = (functions: readonly DeployableFunction[]): readonly object[] => [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
  ...functions.flatMap(functionManifests),
  account(name),
  ...boundRole("Role", name, hostRules(functions.map(({ controller }) => controller.name))),
  deployment(functions),
  disruptionBudget,
  networkPolicy,
];

function functionManifests(definition: DeployableFunction): readonly object[] {
  const { controller } = definition;
  const registration = reconcileFunctionOf(controller);
  const { namespace: local = [], cluster = [] } = grantedPermissions(definition);
  return [
    { ...registration, metadata: { name: controller.name, namespace } },
    account(controller.name),
    ...(local.length > 0 ? boundRole("Role", controller.name, local) : []),
    ...(cluster.length > 0 ? boundRole("ClusterRole", controller.name, cluster) : []),
  ];
}

/** The permissions of the process itself. */
const hostRules = (names: readonly string[]) => [
  { apiGroups: [""], resources: ["serviceaccounts"], resourceNames: names, verbs: ["impersonate"] },
  {
    apiGroups: [ReconcileFunction.group],
    resources: [ReconcileFunction.plural],
    resourceNames: names,
    verbs: ["get"],
  },
];

const account = (of: string) => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: of, namespace },
});

function boundRole(kind: "Role" | "ClusterRole", of: string, rules: readonly object[]): readonly object[] {
  const metadata = kind === "Role" ? { name: of, namespace } : { name: `${namespace}:${of}` };
  return [
    { apiVersion: `${rbac}/v1`, kind, metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: rbac, kind, name: metadata.name },
      subjects: [{ kind: "ServiceAccount", name: of, namespace }],
    },
  ];
}

const redisFolder = "/var/run/drover/redis";
const caFolder = "/var/run/drover/redis-ca";

function deployment(functions: readonly DeployableFunction[]): object {
  const container = {
    image: "drover/controller-manager:0.1.0",
    args: ["--controllers=*"],
    volumes: [{ name: "redis-ca", mountPath: caFolder, configMap: { name: "redis-ca" } }],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" as const },
    ],
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } },
  };
  const grace = stopGraceOf(Math.max(...functions.map(({ controller }) => controller.timeout)));
  const spec = functionPodSpec({
    serviceAccountName: name,
    ownLabels: labels,
    container,
    grace,
    probes: probesOf("pull"),
    secrets: [{ name: "redis", secretName: `${name}-redis`, mountPath: redisFolder }],
    env: [
      { name: "DROVER_FUNCTIONS_IN", value: namespace },
      { name: redisVariables.url, value: redisUrl },
      { name: redisVariables.passwordFile, value: `${redisFolder}/password` },
      { name: redisVariables.caFile, value: `${caFolder}/ca.crt` },
      ...serverVariables({}, grace),
      ...metricsVariables([]),
    ],
  });
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

const disruptionBudget = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name, namespace },
  spec: { minAvailable: 1, selector: { matchLabels: labels } },
};

/**
 * As for functions that the deployer deploys: scrapers may connect, and the metadata addresses of clouds are closed. The
 * identity agent of EKS is not needed.
 */
const networkPolicy = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name, namespace },
  spec: functionPolicy({
    name,
    spec: {},
    redisUrl,
    gateway: { namespace: droverNamespace },
    network: {
      namespace: droverNamespace,
      monitoring: [],
      egress: { ...parseDestinations("pods 0.0.0.0/0 ::/0"), except: parseNetworks(metadataNetworks) },
    },
  }),
};
