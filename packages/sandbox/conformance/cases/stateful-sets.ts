// StatefulSets as the API server alone has them: what is filled in, what is refused, what may change.
import type { JsonObject } from "../../src/json.ts";
import { del, get, named, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const sets = "/apis/apps/v1/namespaces/<ns>/statefulsets";
const at = `${sets}/a`;
const container = { name: "main", image: "image" };
const template: JsonObject = { metadata: { labels: { app: "a" } }, spec: { containers: [container] } };
const selector: JsonObject = { matchLabels: { app: "a" } };
const set = (spec: JsonObject = {}, more: JsonObject = {}): JsonObject =>
  object("apps/v1", "StatefulSet", "a", {
    spec: { serviceName: "a", selector, template, ...spec },
    ...more,
  });
const inPod = (spec: JsonObject): JsonObject => ({
  template: { ...template, spec: { containers: [container], ...spec } },
});
const claim = (name: string, more: JsonObject = {}): JsonObject => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...more },
});
const mounted = inPod({
  containers: [{ ...container, volumeMounts: [{ name: "data", mountPath: "/data" }] }],
});

/** What a spec says besides what it must, one creation each. */
const specs: readonly JsonObject[] = [
  {},
  { replicas: 0 },
  { replicas: -1, minReadySeconds: -1 },
  { serviceName: "" },
  { serviceName: "Not_A_Name" },
  { serviceName: "a.b" },
  { podManagementPolicy: "Parallel" },
  { podManagementPolicy: "Other" },
  { podManagementPolicy: "" },
  { updateStrategy: { type: "OnDelete" } },
  { updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } },
  { updateStrategy: { type: "RollingUpdate" } },
  { updateStrategy: { type: "RollingUpdate", rollingUpdate: {} } },
  { updateStrategy: { rollingUpdate: { partition: 2 } } },
  { updateStrategy: { rollingUpdate: { partition: -1 } } },
  { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } },
  { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
  { updateStrategy: { rollingUpdate: { maxUnavailable: "150%" } } },
  { updateStrategy: { rollingUpdate: { maxUnavailable: "x" } } },
  { updateStrategy: { type: "Other" } },
  { revisionHistoryLimit: 0 },
  { revisionHistoryLimit: -1 },
  { minReadySeconds: 5 },
  { ordinals: { start: 3 } },
  { ordinals: { start: -3 } },
  { ordinals: {} },
  { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" } },
  { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Other", whenScaled: "" } },
  { persistentVolumeClaimRetentionPolicy: {} },
  inPod({ restartPolicy: "Never" }),
  inPod({ terminationGracePeriodSeconds: 0, serviceAccount: "s" }),
  mounted,
  { ...mounted, volumeClaimTemplates: [claim("data")] },
  { ...mounted, volumeClaimTemplates: [claim("data", { storageClassName: "fast", volumeMode: "Block" })] },
  { volumeClaimTemplates: [claim("data", { accessModes: [] })] },
  { volumeClaimTemplates: [claim("data", { resources: {} })] },
  { volumeClaimTemplates: [claim("data", { accessModes: ["Other"] })] },
  { volumeClaimTemplates: [] },
  { bogus: 1, updateStrategy: { type: "OnDelete", bogus: 1 } },
];

const rest = {
  volumeClaimTemplates: [claim("data")],
  podManagementPolicy: "Parallel",
};
/** Merge patches of one that is there. */
const changes: readonly JsonObject[] = [
  { replicas: 3 },
  { replicas: -3 },
  { replicas: null },
  inPod({ containers: [{ ...container, image: "other" }] }),
  { template: { metadata: { annotations: { a: "b" } } } },
  { template: { metadata: { labels: { app: "b" } } } },
  { updateStrategy: { type: "OnDelete", rollingUpdate: null } },
  { updateStrategy: { type: "OnDelete" } },
  { updateStrategy: { rollingUpdate: { partition: 1 } } },
  { minReadySeconds: 3 },
  { ordinals: { start: 1 } },
  { revisionHistoryLimit: 1 },
  { persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete" } },
  { persistentVolumeClaimRetentionPolicy: null },
  { serviceName: "b" },
  { serviceName: null },
  { podManagementPolicy: "OrderedReady" },
  { selector: { matchLabels: { app: "b" } } },
  { selector: { matchLabels: { more: "b" } }, template: { metadata: { labels: { more: "b" } } } },
  { volumeClaimTemplates: [] },
  { volumeClaimTemplates: [claim("data", { resources: { requests: { storage: "2Gi" } } })] },
  { replicas: 2, serviceName: "b" },
];

const statuses: readonly JsonObject[] = [
  {},
  { replicas: 2, readyReplicas: 1, currentReplicas: 1, updatedReplicas: 1, availableReplicas: 1 },
  { replicas: 1, readyReplicas: 2 },
  { replicas: 1, currentReplicas: 2, updatedReplicas: 2 },
  { replicas: 3, readyReplicas: 1, availableReplicas: 2 },
  { replicas: -1 },
  { replicas: 1, observedGeneration: -1, collisionCount: -1 },
  { observedGeneration: 0, collisionCount: 0, currentRevision: "a-1", updateRevision: "a-2" },
  { replicas: 1, conditions: [{ type: "Ready", status: "True" }] },
];

const scale = (more: JsonObject = {}): JsonObject =>
  object("autoscaling/v1", "Scale", "a", { spec: { replicas: 5 }, ...more });
const made: Step = named("made", post(sets, set()));
const apply = (manager: string, body: JsonObject): Step => ({
  method: "PATCH",
  path: `${at}?fieldManager=${manager}`,
  text: JSON.stringify(body),
  headers: { "content-type": "application/apply-patch+yaml" },
});

/** What all three kinds say of a selector and a template. */
const selections: readonly JsonObject[] = [
  { selector: {} },
  { selector: null },
  { selector: { matchLabels: { app: "b" } } },
  { selector: { matchLabels: { app: "a", "b c": "d e" } } },
  { selector: { matchExpressions: [{ key: "app", operator: "In", values: ["a"] }] } },
  { selector: { matchExpressions: [{ key: "app", operator: "In" }] } },
  { selector: { matchExpressions: [{ key: "app", operator: "Exists", values: ["a"] }] } },
  { selector: { matchExpressions: [{ key: "a pp", operator: "NotIn", values: ["a b"] }] } },
  { selector: { matchExpressions: [{ key: "app", operator: "Other" }] } },
  { template: { spec: { containers: [container] } } },
  { template: { ...template, metadata: { labels: { app: "a", "x y": "z" } } } },
  { template: { ...template, metadata: { labels: { app: "a" }, annotations: { "x y": "z" } } } },
  inPod({ containers: [] }),
  inPod({ activeDeadlineSeconds: 1 }),
  inPod({ hostname: "Not_A", subdomain: "Not_B" }),
];

export const statefulSets: readonly Case[] = [
  ...["Deployment", "ReplicaSet", "StatefulSet"].flatMap((kind) =>
    selections.map((more) => ({
      name: `a ${kind} with ${JSON.stringify(more).slice(0, 100)}`,
      steps: [
        post(
          `/apis/apps/v1/namespaces/<ns>/${kind.toLowerCase()}s`,
          object("apps/v1", kind, "a", { spec: { selector, template, ...more } }),
        ),
      ],
    })),
  ),
  ...specs.map((spec) => ({
    name: `created with ${JSON.stringify(spec).slice(0, 100)}`,
    steps: [post(sets, set(spec)), get(at)],
  })),
  { name: "named as no pod may be", steps: [post(sets, { ...set(), metadata: { name: "a.b" } })] },
  ...changes.map((spec) => ({
    name: `changed by ${JSON.stringify(spec).slice(0, 100)}`,
    steps: [post(sets, set(rest)), patch(at, { spec }), get(at)],
  })),
  {
    name: "replaced, by itself and by others",
    steps: [
      made,
      put(at, set()),
      put(at, set({ replicas: 2 })),
      put(at, set({ serviceName: "b" })),
      put(at, set({ selector: { matchLabels: { app: "b" } } })),
      put(at, set(rest)),
      put(at, set({}, { status: { replicas: 9 } })),
      get(at),
    ],
  },
  ...statuses.map((status) => ({
    name: `the status ${JSON.stringify(status)}`,
    steps: [made, put(`${at}/status`, set({ replicas: 7 }, { status })), get(`${at}/status`)],
  })),
  {
    name: "a status that is patched, and its collisions",
    steps: [
      made,
      patch(`${at}/status`, { status: { replicas: 1, collisionCount: 2 } }),
      patch(`${at}/status`, { status: { collisionCount: 1 } }),
      patch(`${at}/status`, { status: { collisionCount: null } }),
      patch(`${at}/status`, {
        metadata: { labels: { a: "b" }, annotations: { a: "b" } },
        spec: { replicas: 9 },
      }),
      get(at),
    ],
  },
  {
    name: "scaled",
    steps: [
      made,
      get(`${at}/scale`),
      put(`${at}/scale`, scale()),
      patch(`${at}/scale`, { spec: { replicas: 2 } }),
      patch(`${at}/scale`, { spec: { replicas: -2 } }),
      put(`${at}/scale`, scale({ spec: {} })),
      put(`${at}/scale?dryRun=All`, scale()),
      get(at),
      get(`${sets}/none/scale`),
    ],
  },
  {
    name: "applied by two",
    steps: [
      apply("one", set()),
      apply("two", object("apps/v1", "StatefulSet", "a", { spec: { replicas: 4 } })),
      apply("one", set({ replicas: 2 })),
      apply("one", set({ minReadySeconds: 1 })),
      apply("one", set({ serviceName: "b" })),
      get(at),
    ],
  },
  {
    name: "patched by the lists' keys",
    steps: [
      made,
      patch(
        at,
        { spec: { template: { spec: { containers: [{ name: "side", image: "other" }] } } } },
        "strategic-merge-patch",
      ),
      patch(at, [{ op: "replace", path: "/spec/replicas", value: 8 }], "json-patch"),
      patch(at, [{ op: "replace", path: "/spec/serviceName", value: "b" }], "json-patch"),
    ],
  },
  {
    name: "found by selectors, and deleted with others",
    steps: [
      made,
      get(`${sets}?fieldSelector=metadata.name%3Da`),
      get(`${sets}?fieldSelector=status.replicas%3D0`),
      patch(at, { metadata: { labels: { a: "b" } } }),
      del(`${sets}?labelSelector=a%3Db`),
      get(sets),
    ],
  },
];
