/** The kind that every peer reconciles: it writes `status.observedGeneration` when that is behind. */
export const group = "peers.drover.dev";

/** A Gauge, by `namespace/name`. */
export type GaugeKey = string;

const namespaceCount = 10;
export const namespaces = Array.from({ length: namespaceCount }, (_, i) => `peers-${i}`);

export const gaugeKey = (i: number): GaugeKey =>
  `peers-${i % namespaceCount}/gauge-${String(i).padStart(6, "0")}`;

export const collectionOf = (namespace: string): string => `/apis/${group}/v1/namespaces/${namespace}/gauges`;
export const everywhere = `/apis/${group}/v1/gauges`;

const parted = (key: GaugeKey): readonly [namespace: string, name: string] => {
  const [namespace = "", name = ""] = key.split("/");
  return [namespace, name];
};
export const createPath = (key: GaugeKey): string => collectionOf(parted(key)[0]);
export const objectPath = (key: GaugeKey): string => `${createPath(key)}/${parted(key)[1]}`;

/** What is sent to create it: 2 KiB. */
export const gauge = (key: GaugeKey): object => ({
  apiVersion: `${group}/v1`,
  kind: "Gauge",
  metadata: {
    name: parted(key)[1],
    namespace: parted(key)[0],
    labels: { "app.kubernetes.io/name": "gauge" },
  },
  spec: { turn: 0, notes: `${key} is there so that there is something to read. `.repeat(28) },
});

const text = { type: "string" };
const generation = { type: "integer", format: "int64" };
const object = (properties: object): object => ({ type: "object", properties });

const condition = object({
  type: text,
  status: text,
  reason: text,
  message: text,
  observedGeneration: generation,
  lastTransitionTime: { ...text, format: "date-time" },
});

const schema = object({
  spec: object({ turn: { type: "integer" }, notes: text, fails: { type: "boolean" } }),
  status: object({ observedGeneration: generation, conditions: { type: "array", items: condition } }),
});

export const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `gauges.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "gauges", singular: "gauge", kind: "Gauge", listKind: "GaugeList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: { status: {} },
      },
    ],
  },
};
