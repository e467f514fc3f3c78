import { createHash } from "node:crypto";

/** A running Pod as an API server sends it, of this user. */
export const podText = (i: number, runAsUser: string): string =>
  JSON.stringify(pod(i)).replace('"the user"', runAsUser);

const hex = (text: string): string => createHash("sha256").update(text).digest("hex");
const uid = (text: string): string =>
  hex(text)
    .slice(0, 32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
const at = "2026-01-02T03:04:05Z";
const conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
const owned = (...names: string[]): object => Object.fromEntries(names.map((name) => [`f:${name}`, {}]));

const pod = (i: number): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: metadataOf(i),
  spec: specOf(i),
  status: statusOf(i),
});

const metadataOf = (i: number): object => ({
  name: `web-7d9c5b6f4d-${hex(String(i)).slice(0, 5)}`,
  generateName: "web-7d9c5b6f4d-",
  namespace: "default",
  uid: uid(`pod ${i}`),
  resourceVersion: String(1_234_567 + i),
  generation: 1,
  creationTimestamp: at,
  labels: { app: "web", "pod-template-hash": "7d9c5b6f4d" },
  annotations: { "checksum/config": hex("config"), "kubectl.kubernetes.io/restartedAt": at },
  ownerReferences: [
    {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      name: "web-7d9c5b6f4d",
      uid: uid("set"),
      controller: true,
      blockOwnerDeletion: true,
    },
  ],
  managedFields: ["kube-controller-manager", "kubelet"].map((manager) => ({
    manager,
    operation: "Update",
    apiVersion: "v1",
    time: at,
    fieldsType: "FieldsV1",
    fieldsV1: {
      "f:metadata": { "f:labels": owned("app", "pod-template-hash"), "f:ownerReferences": {} },
      "f:spec": {
        "f:containers": {
          'k:{"name":"web"}': owned("image", "imagePullPolicy", "name", "ports", "resources"),
        },
        ...owned("dnsPolicy", "enableServiceLinks", "restartPolicy", "schedulerName", "securityContext"),
      },
    },
  })),
});

const specOf = (i: number): object => ({
  volumes: [
    {
      name: "token",
      projected: { defaultMode: 420, sources: [{ configMap: { name: "kube-root-ca.crt" } }] },
    },
  ],
  containers: [
    {
      name: "web",
      image: `registry.example.com/web@sha256:${hex("image")}`,
      imagePullPolicy: "IfNotPresent",
      ports: [{ containerPort: 8080, protocol: "TCP" }],
      resources: { limits: { cpu: "1", memory: "512Mi" }, requests: { cpu: "100m", memory: "256Mi" } },
      volumeMounts: [
        { name: "token", readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
      ],
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
    },
  ],
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  serviceAccountName: "default",
  nodeName: `node-${i % 20}`,
  securityContext: { runAsUser: "the user" },
  tolerations: [
    {
      key: "node.kubernetes.io/not-ready",
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 300,
    },
  ],
});

const statusOf = (i: number): object => ({
  phase: "Running",
  hostIP: "10.0.0.7",
  podIP: `10.1.${i % 250}.7`,
  startTime: at,
  qosClass: "Burstable",
  conditions: conditions.map((type) => ({
    type,
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: at,
  })),
  containerStatuses: [
    {
      name: "web",
      state: { running: { startedAt: at } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: "web",
      imageID: `sha256:${hex("image")}`,
      containerID: `containerd://${hex(`c ${i}`)}`,
      started: true,
    },
  ],
});
