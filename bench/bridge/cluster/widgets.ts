import { queueOf } from "@drover/controller";

/** The kind that is watched: about a kilobyte each, with spec and status, as a controller's own kind is. */
export const group = "bench.drover.dev";
export const crdName = `widgets.${group}`;
/** The controller is named after its kind. */
export const controller = crdName;
/** A file registers it. */
export const queue = queueOf({ name: controller });

/** A Widget, by `namespace/name`. */
export type WidgetKey = string;

const namespaceCount = 10;
export const namespaces = Array.from({ length: namespaceCount }, (_, i) => `bench-${i}`);

export const widgetKey = (i: number): WidgetKey =>
  `bench-${i % namespaceCount}/widget-${String(i).padStart(6, "0")}`;

export const collection = `/apis/${group}/v1/widgets`;
const parted = (key: WidgetKey): readonly [namespace: string, name: string] => {
  const [namespace = "", name = ""] = key.split("/");
  return [namespace, name];
};
export const createPath = (key: WidgetKey): string =>
  `/apis/${group}/v1/namespaces/${parted(key)[0]}/widgets?fieldValidation=Ignore`;
export const objectPath = (key: WidgetKey): string => {
  const [namespace, name] = parted(key);
  return `/apis/${group}/v1/namespaces/${namespace}/widgets/${name}`;
};

/** What is sent to create it. */
export function widget(key: WidgetKey): object {
  const [namespace, name] = parted(key);
  const number = Number(/\d+$/.exec(name)?.[0] ?? 0);
  return {
    apiVersion: `${group}/v1`,
    kind: "Widget",
    metadata: {
      name,
      namespace,
      labels: {
        "app.kubernetes.io/name": "widget",
        "app.kubernetes.io/part-of": "bench",
        shard: `s${number % 64}`,
      },
      annotations: { "bench.drover.dev/owner": `team-${number % 100}@example.com` },
    },
    spec: {
      size: number % 1_000,
      turn: 0,
      notes: `Widget ${number} is made so that there is something to watch.`,
      parts: ["frame", "wheel", "axle"].map((part) => ({ name: `${part}-${number}`, count: 3 })),
      tags: { zone: `zone-${number % 3}`, tier: number % 2 === 0 ? "front" : "back" },
    },
    status: {
      observedGeneration: 1,
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "AsDesired",
          message: "",
          observedGeneration: 1,
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    },
  };
}

/** A change of what is asked for: a new generation. */
export const turn = (number: number): object => ({ spec: { turn: number } });

const text = { type: "string" };
const count = { type: "integer" };
const object = (properties: object): object => ({ type: "object", properties });
const listOf = (items: object): object => ({ type: "array", items });

const schema = object({
  spec: object({
    size: count,
    turn: count,
    notes: text,
    parts: listOf(object({ name: text, count })),
    tags: { type: "object", additionalProperties: text },
  }),
  status: object({
    observedGeneration: { ...count, format: "int64" },
    conditions: listOf(
      object({
        type: text,
        status: text,
        reason: text,
        message: text,
        observedGeneration: { ...count, format: "int64" },
        lastTransitionTime: { ...text, format: "date-time" },
      }),
    ),
  }),
});

/**
 * Without its status subresource, objects can be created with a status, in one request each; `withStatus` comes after.
 */
export const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: crdName },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
};
export const withStatus = [{ op: "add", path: "/spec/versions/0/subresources", value: { status: {} } }];

/** How the bridge learns of the controller. */
export const reconcileFunction = {
  apiVersion: "drover.dev/v1alpha1",
  kind: "ReconcileFunction",
  metadata: { name: controller },
  spec: { for: { group, version: "v1", kind: "Widget", plural: "widgets", scope: "Namespaced" } },
};
