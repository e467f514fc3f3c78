// What the server knows of pods, in pods themselves and in templates: names of fields, defaults, how lists merge.
// Deeper structures (probes' handlers, volumes' sources, affinities) are stored without looking at most of them.
import { field, isObject, listAt, objectAt, omit, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import {
  anyObject,
  anyScalar,
  atomic,
  boolean,
  each,
  fields,
  integer,
  knowing,
  listBy,
  listOf,
  mapOf,
  or,
  string,
  strings,
  struct,
} from "./schema-words.ts";

const reference = atomic(fields({ name: or(string, "") }));
const keyed = atomic(knowing({ ...strings("key name apiVersion fieldPath") }));
export const quantities = mapOf(anyScalar);
export const labelSelector = atomic(
  fields({ matchLabels: mapOf(string), matchExpressions: listOf(anyObject) }),
);
export const conditions = listBy("type", anyObject);
/** Conditions of which these times are there when nobody sets them. */
export const conditionsTimed = (times: string): JsonObject =>
  listBy("type", knowing(each(times, or(string, null))));

const probe = knowing({
  timeoutSeconds: or(integer, 1),
  periodSeconds: or(integer, 10),
  ...each("successThreshold", or(integer, 1)),
  failureThreshold: or(integer, 3),
  httpGet: knowing({ path: or(string, "/"), scheme: or(string, "HTTP"), port: anyScalar }),
  exec: knowing({ command: listOf(string) }),
});
const containerPort = fields({
  ...strings("name hostIP"),
  ...each("containerPort hostPort", integer),
  protocol: or(string, "TCP"),
});
const environment = fields({
  ...strings("name value"),
  valueFrom: fields({
    ...each("configMapKeyRef secretKeyRef resourceFieldRef fileKeyRef", keyed),
    fieldRef: atomic(fields({ apiVersion: or(string, "v1"), fieldPath: string })),
  }),
});
const mount = fields({
  ...strings("name mountPath subPath subPathExpr mountPropagation recursiveReadOnly"),
  readOnly: boolean,
});

const container = fields(
  {
    ...strings("name image workingDir restartPolicy imagePullPolicy"),
    ...each("command args", listOf(string)),
    ports: listBy("containerPort protocol", containerPort),
    ...each("envFrom resizePolicy restartPolicyRules", listOf(anyObject)),
    env: listBy("name", environment),
    resources: struct({ ...each("limits requests", quantities), claims: listBy("name", anyObject) }),
    volumeMounts: listBy("mountPath", mount),
    volumeDevices: listBy("devicePath", anyObject),
    ...each("livenessProbe readinessProbe startupProbe", probe),
    ...each("lifecycle securityContext", anyObject),
    terminationMessagePath: or(string, "/dev/termination-log"),
    terminationMessagePolicy: or(string, "File"),
    ...each("stdin stdinOnce tty", boolean),
    targetContainerName: string,
  },
  ["name"],
);

const files = knowing({ defaultMode: or(integer, 0o644) });
const volume = knowing({
  name: string,
  emptyDir: anyObject,
  ...each("configMap secret projected downwardAPI", files),
  hostPath: knowing({ path: string, type: or(string, "") }),
});

const podFields = {
  ...strings("nodeName serviceAccountName serviceAccount hostname subdomain priorityClassName"),
  ...strings("runtimeClassName preemptionPolicy hostnameOverride"),
  ...each("activeDeadlineSeconds priority", integer),
  ...each("automountServiceAccountToken hostNetwork hostPID hostIPC shareProcessNamespace", boolean),
  ...each("setHostnameAsFQDN hostUsers enableServiceLinks", boolean),
  ...each("affinity dnsConfig os resources workloadRef schedulingGroup", anyObject),
  ...each("containers initContainers ephemeralContainers", listBy("name", container)),
  volumes: listBy("name", volume),
  restartPolicy: or(string, "Always"),
  terminationGracePeriodSeconds: or(integer, 30),
  dnsPolicy: or(string, "ClusterFirst"),
  nodeSelector: atomic(mapOf(string)),
  securityContext: or(anyObject, {}),
  imagePullSecrets: listBy("name", reference),
  schedulerName: or(string, "default-scheduler"),
  ...each("tolerations readinessGates", listOf(anyObject)),
  hostAliases: listBy("ip", anyObject),
  overhead: quantities,
  topologySpreadConstraints: listBy("topologyKey whenUnsatisfiable", anyObject),
  ...each("schedulingGates resourceClaims", listBy("name", anyObject)),
};
const inTemplate = struct(podFields, ["containers"]);

/** A pod's own spec. */
export const podSpec: JsonObject = struct({ ...podFields, enableServiceLinks: or(boolean, true) }, [
  "containers",
]);

/** A pod as a template of others describes it. */
export const podTemplate: JsonObject = struct({
  metadata: struct({
    ...strings("name generateName namespace"),
    ...each("labels annotations", mapOf(string)),
    creationTimestamp: string,
    finalizers: listOf(string),
  }),
  spec: inTemplate,
});

function completedContainer(container: Json): Json {
  if (!isObject(container)) return container;
  const image = textAt(container, "image") ?? "";
  const [, tag] = /:([^/:@]+)$/.exec(image) ?? [];
  const latest = !image.includes("@") && (tag === undefined || tag === "latest");
  const pulled = { imagePullPolicy: latest ? "Always" : "IfNotPresent", ...container };
  const limits = objectAt(container, "resources", "limits");
  if (Object.keys(limits).length === 0) return pulled;
  const resources = objectAt(container, "resources");
  return {
    ...pulled,
    resources: { ...resources, requests: { ...limits, ...objectAt(resources, "requests") } },
  };
}

const noTaint = (key: string): JsonObject => ({
  key: `node.kubernetes.io/${key}`,
  ...{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
});

/** What admission adds to a new pod's spec: a priority, and patience with nodes that are not there for a moment. */
export function admittedPodSpec(spec: JsonObject): JsonObject {
  const given = listAt(spec, "tolerations");
  const added = [noTaint("not-ready"), noTaint("unreachable")].filter(
    ({ key }) => !given.some((one) => [undefined, "", key].includes(textAt(one, "key"))),
  );
  return {
    priority: 0,
    preemptionPolicy: "PreemptLowerPriority",
    ...spec,
    tolerations: [...given, ...added],
  };
}

/** The quality of service that a pod's requests and limits ask for. */
export function qualityOf(spec: JsonObject): string {
  const asked = [...listAt(spec, "initContainers"), ...listAt(spec, "containers")].map((one) =>
    objectAt(one, "resources"),
  );
  const some = ({ limits = {}, requests = {} }: JsonObject): boolean =>
    ["cpu", "memory"].some((key) => field(limits, key) !== undefined || field(requests, key) !== undefined);
  const all = ({ limits = {}, requests = {} }: JsonObject): boolean =>
    ["cpu", "memory"].every(
      (key) => field(limits, key) !== undefined && field(limits, key) === field(requests, key),
    );
  return asked.every(all) ? "Guaranteed" : asked.some(some) ? "Burstable" : "BestEffort";
}

/** A pod's spec with the defaults that depend on other fields of it. */
export function completedPodSpec(spec: JsonObject): JsonObject {
  const lists = ["containers", "initContainers"].filter((key) => field(spec, key) !== undefined);
  const completed = lists.map((key) => [key, listAt(spec, key).map(completedContainer)] as const);
  return { ...omit(spec, ...lists), ...Object.fromEntries(completed) };
}
