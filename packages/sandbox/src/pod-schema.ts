// The fields of a pod's spec, with those defaults that need no thought (core/v1, types.go and defaults.go).
import type { Json, JsonObject } from "./json.ts";
import {
  always,
  anyObject,
  atomic,
  fields,
  labelSelector,
  listBy,
  listOf,
  or,
  quantity,
  string,
  struct,
} from "./schema-words.ts";

const reference = atomic(struct({ text: "name" }));
const optionalReference = struct({ text: "name", boolean: "optional" });
const fieldRef = atomic(struct({ kept: "fieldPath" }, { apiVersion: or(string, "v1") }));
const resourceFieldRef = atomic(
  struct({ text: "containerName", kept: "resource" }, { divisor: or(quantity, "0") }),
);
const key = atomic(struct({ text: "name", kept: "key", boolean: "optional" }));

const envVar = struct(
  { kept: "name", text: "value" },
  {
    valueFrom: fields({
      fieldRef,
      resourceFieldRef,
      configMapKeyRef: key,
      secretKeyRef: key,
      fileKeyRef: atomic(struct({ kept: "volumeName path key", boolean: "optional" })),
    }),
  },
);
const envFrom = struct({ text: "prefix" }, { configMapRef: optionalReference, secretRef: optionalReference });

const exec = struct({ texts: "command" });
const httpGet = struct(
  { port: "port", text: "host" },
  {
    path: or(string, "/"),
    scheme: or(string, "HTTP"),
    httpHeaders: listOf(struct({ kept: "name value" })),
  },
);
const tcpSocket = struct({ port: "port", text: "host" });
const number = (byDefault: number): JsonObject => ({
  type: "integer",
  default: byDefault,
  "x-omitempty": true,
});
const probe = struct(
  { number: "initialDelaySeconds", integer: "terminationGracePeriodSeconds" },
  {
    exec,
    httpGet,
    tcpSocket,
    grpc: struct({ integer: "port" }, { service: or(string, "") }),
    timeoutSeconds: number(1),
    periodSeconds: number(10),
    successThreshold: number(1),
    failureThreshold: number(3),
  },
);
const handler = fields({ exec, httpGet, tcpSocket, sleep: struct({ integer: "seconds" }) });

const resources = struct(
  { quantities: "limits requests" },
  { claims: listBy("name", struct({ kept: "name", text: "request" })) },
);
const seLinuxOptions = struct({ text: "user role type level" });
const windowsOptions = struct({
  kept: "gmsaCredentialSpecName gmsaCredentialSpec runAsUserName",
  boolean: "hostProcess",
});
const profile = struct({ kept: "type localhostProfile" });
const identity = { integer: "runAsUser runAsGroup" };
const profiles = { seLinuxOptions, windowsOptions, seccompProfile: profile, appArmorProfile: profile };
const securityContext = struct(
  {
    ...identity,
    boolean: "privileged runAsNonRoot readOnlyRootFilesystem allowPrivilegeEscalation",
    kept: "procMount",
  },
  { ...profiles, capabilities: struct({ texts: "add drop" }) },
);
const podSecurityContext = struct(
  {
    integer: "runAsUser runAsGroup fsGroup",
    boolean: "runAsNonRoot",
    kept: "supplementalGroupsPolicy fsGroupChangePolicy seLinuxChangePolicy",
  },
  {
    ...profiles,
    supplementalGroups: listOf({ type: "integer" }),
    sysctls: listOf(struct({ kept: "name value" })),
  },
);

const port = struct(
  { text: "name hostIP", number: "hostPort", integer: "containerPort" },
  { protocol: or(string, "TCP") },
);
const mount = struct({
  kept: "name mountPath recursiveReadOnly mountPropagation",
  text: "subPath subPathExpr",
  flag: "readOnly",
});
const containerFields: Readonly<Record<string, Json>> = {
  ports: listBy("containerPort protocol", port),
  env: listBy("name", envVar),
  envFrom: listOf(envFrom),
  resources: or(resources, {}),
  volumeMounts: listBy("mountPath", mount),
  volumeDevices: listBy("devicePath", struct({ kept: "name devicePath" })),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: fields({ postStart: handler, preStop: handler, stopSignal: string }),
  securityContext,
  terminationMessagePath: { ...or(string, "/dev/termination-log"), "x-omitempty": true },
  terminationMessagePolicy: { ...or(string, "File"), "x-omitempty": true },
  resizePolicy: listOf(struct({ kept: "resourceName restartPolicy" })),
  restartPolicyRules: listOf(anyObject),
};
const container = struct(
  {
    kept: "name restartPolicy",
    text: "image workingDir imagePullPolicy",
    texts: "command args",
    flag: "stdin stdinOnce tty",
  },
  containerFields,
);
const ephemeral = struct(
  {
    kept: "name restartPolicy",
    text: "image workingDir imagePullPolicy targetContainerName",
    texts: "command args",
    flag: "stdin stdinOnce tty",
  },
  containerFields,
);

const items = listOf(struct({ kept: "key path", integer: "mode" }));
const downward = listOf(struct({ kept: "path", integer: "mode" }, { fieldRef, resourceFieldRef }));
const mode = or({ type: "integer" }, 420);
const named = { items, name: { ...string, "x-omitempty": true }, optional: { type: "boolean" } };
const token = struct(
  { text: "audience", kept: "path" },
  { expirationSeconds: or({ type: "integer" }, 3600) },
);
const source = fields({
  secret: fields(named),
  configMap: fields(named),
  downwardAPI: fields({ items: downward }),
  serviceAccountToken: token,
  clusterTrustBundle: anyObject,
  podCertificate: anyObject,
});
/** Where a volume may come from; of those that are seldom met only the name is known. */
export const volumeSources: Readonly<Record<string, Json>> = {
  emptyDir: struct({ text: "medium" }, { sizeLimit: quantity }),
  hostPath: struct({ kept: "path" }, { type: or(string, "") }),
  secret: struct({ text: "secretName", boolean: "optional" }, { items, defaultMode: mode }),
  configMap: fields({ ...named, defaultMode: mode }),
  downwardAPI: fields({ items: downward, defaultMode: mode }),
  projected: fields({ sources: or(listOf(source), null), defaultMode: mode }),
  persistentVolumeClaim: struct({ kept: "claimName", flag: "readOnly" }),
  nfs: struct({ kept: "server path", flag: "readOnly" }),
  csi: struct(
    { kept: "driver fsType", boolean: "readOnly", map: "volumeAttributes" },
    { nodePublishSecretRef: reference },
  ),
  image: struct({ text: "reference pullPolicy" }),
  ...Object.fromEntries(
    (
      "gcePersistentDisk awsElasticBlockStore gitRepo iscsi glusterfs rbd flexVolume cinder cephfs flocker fc azureFile " +
      "vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos ephemeral"
    )
      .split(" ")
      .map((name) => [name, anyObject]),
  ),
};

const requirement = struct({ kept: "key operator", texts: "values" });
const nodeTerm = atomic(fields({ matchExpressions: listOf(requirement), matchFields: listOf(requirement) }));
const podTerm = struct(
  { texts: "namespaces matchLabelKeys mismatchLabelKeys", kept: "topologyKey" },
  { labelSelector, namespaceSelector: labelSelector },
);
const podAffinity = fields({
  requiredDuringSchedulingIgnoredDuringExecution: listOf(podTerm),
  preferredDuringSchedulingIgnoredDuringExecution: listOf(
    struct({ integer: "weight" }, { podAffinityTerm: podTerm }),
  ),
});
const affinity = fields({
  nodeAffinity: fields({
    requiredDuringSchedulingIgnoredDuringExecution: atomic(fields({ nodeSelectorTerms: listOf(nodeTerm) })),
    preferredDuringSchedulingIgnoredDuringExecution: listOf(
      struct({ integer: "weight" }, { preference: nodeTerm }),
    ),
  }),
  podAffinity,
  podAntiAffinity: podAffinity,
});
const spread = struct(
  {
    integer: "maxSkew minDomains",
    kept: "topologyKey whenUnsatisfiable nodeAffinityPolicy nodeTaintsPolicy",
    texts: "matchLabelKeys",
  },
  { labelSelector },
);
const toleration = struct({ text: "key operator value effect", integer: "tolerationSeconds" });

const omittedOr = (byDefault: string): JsonObject => ({ ...or(string, byDefault), "x-omitempty": true });

/** What Pods and the templates of pods have in common. */
export const podSpecSchema: JsonObject = struct(
  {
    text: "serviceAccountName serviceAccount nodeName hostname subdomain priorityClassName",
    kept: "runtimeClassName preemptionPolicy hostnameOverride",
    flag: "hostNetwork hostPID hostIPC",
    boolean:
      "automountServiceAccountToken shareProcessNamespace enableServiceLinks setHostnameAsFQDN hostUsers",
    integer: "activeDeadlineSeconds priority",
    quantities: "overhead",
    any: "schedulingGroup workloadRef",
  },
  {
    volumes: listBy("name", fields({ name: string, ...volumeSources })),
    initContainers: listBy("name", container),
    containers: or(listBy("name", container), null),
    ephemeralContainers: listBy("name", ephemeral),
    restartPolicy: omittedOr("Always"),
    terminationGracePeriodSeconds: or({ type: "integer" }, 30),
    dnsPolicy: omittedOr("ClusterFirst"),
    schedulerName: omittedOr("default-scheduler"),
    nodeSelector: atomic({ type: "object", additionalProperties: string }),
    securityContext: or(podSecurityContext, {}),
    imagePullSecrets: listBy("name", reference),
    affinity,
    tolerations: listOf(toleration),
    hostAliases: listBy("ip", struct({ kept: "ip", texts: "hostnames" })),
    dnsConfig: struct(
      { texts: "nameservers searches" },
      { options: listOf(struct({ text: "name", kept: "value" })) },
    ),
    readinessGates: listOf(struct({ kept: "conditionType" })),
    topologySpreadConstraints: listBy("topologyKey whenUnsatisfiable", spread),
    os: struct({ kept: "name" }),
    schedulingGates: listBy("name", struct({ kept: "name" })),
    resourceClaims: listBy("name", struct({ kept: "name resourceClaimName resourceClaimTemplateName" })),
    resources,
  },
);

const state = anyObject;
const containerStatus = struct(
  {
    kept: "name image imageID",
    text: "containerID",
    boolean: "started",
    any: "user",
    anys: "volumeMounts allocatedResourcesStatus",
    quantities: "allocatedResources",
  },
  {
    state: or(state, {}),
    lastState: or(state, {}),
    ready: or({ type: "boolean" }, false),
    restartCount: or({ type: "integer" }, 0),
    image: or(string, ""),
    imageID: or(string, ""),
    resources,
  },
);
const whenever = or(string, null);
const condition = struct(
  { kept: "type status", text: "reason message", number: "observedGeneration" },
  { lastProbeTime: whenever, lastTransitionTime: whenever },
);
export const podStatusSchema: JsonObject = struct(
  {
    text: "phase message reason nominatedNodeName hostIP podIP qosClass resize",
    kept: "startTime",
    number: "observedGeneration",
    quantities: "allocatedResources",
    any: "extendedResourceClaimStatus",
    anys: "resourceClaimStatuses nodeAllocatableResourceClaimStatuses",
  },
  {
    conditions: listBy("type", condition),
    hostIPs: listOf(struct({ text: "ip" })),
    podIPs: listBy("ip", struct({ text: "ip" })),
    initContainerStatuses: listOf(containerStatus),
    containerStatuses: listOf(containerStatus),
    ephemeralContainerStatuses: listOf(containerStatus),
    resources,
  },
);

/** How a template of pods is written in the kinds that make them. */
export const podTemplateSchema = (metadata: JsonObject): JsonObject =>
  always(fields({ metadata: always(metadata), spec: always(podSpecSchema) }));
