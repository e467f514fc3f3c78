// Definitions that many cases use. They exist before the first case, and no case changes them.
import type { Json, JsonObject } from "../src/json.ts";
import {
  aOrB,
  embedded,
  free,
  keeps,
  keyedBy,
  list,
  mapOf,
  mixed,
  set,
  struct,
  text,
  whole,
  wholeOrText,
} from "./schemas.ts";
import { awaited, object, post } from "./steps.ts";
import type { Case, Step } from "./steps.ts";

export const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export interface DefinitionOf {
  readonly group?: string;
  readonly plural: string;
  readonly kind: string;
  readonly scope?: "Namespaced" | "Cluster";
  readonly names?: JsonObject;
  readonly versions: readonly Json[];
}

export const definitionOf = ({
  group = "example.com",
  plural,
  kind,
  scope = "Namespaced",
  names = {},
  versions,
}: DefinitionOf): JsonObject =>
  object("apiextensions.k8s.io/v1", "CustomResourceDefinition", `${plural}.${group}`, {
    spec: { group, scope, names: { plural, kind, ...names }, versions },
  });

export const version = (name: string, openAPIV3Schema: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema },
  ...more,
});

/** The formats in the cases; no server knows some of them. */
const textFormats =
  "uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 byte password date duration date-time datetime bsonobjectid isbn isbn10 isbn13 creditcard ssn hexcolor rgbcolor k8s-short-name k8s-long-name int32 unknown quantity int-or-string".split(
    " ",
  );

/** An object with these fields in its spec, and with any status. */
export const spec = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
  struct({ spec: struct(properties, more), status: free });

const widgetSpec: JsonObject = {
  size: { ...whole, minimum: 1, maximum: 100 },
  colour: { ...text, enum: ["red", "blue"], default: "red" },
  tags: list(text),
  nested: struct({ deep: struct({ leaf: text }) }),
};
const columns = [
  { name: "Size", type: "integer", jsonPath: ".spec.size", description: "How big", priority: 1 },
  { name: "Colour", type: "string", jsonPath: ".spec.colour", format: "byte" },
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Tags", type: "string", jsonPath: ".spec.tags" },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

/** A definition with status, columns, selectable fields and two versions. */
const widgets = definitionOf({
  plural: "widgets",
  kind: "Widget",
  names: { shortNames: ["wd"], categories: ["all"] },
  versions: [
    version("v1", spec(widgetSpec), {
      subresources: { status: {} },
      additionalPrinterColumns: columns,
      selectableFields: [{ jsonPath: ".spec.colour" }, { jsonPath: ".spec.size" }],
    }),
    version("v1beta1", spec({ ...widgetSpec, old: text }), { storage: false, subresources: { status: {} } }),
  ],
});

/** A definition without a status subresource, cluster-scoped. */
const gadgetDefinition = definitionOf({
  plural: "gadgets",
  kind: "Gadget",
  scope: "Cluster",
  versions: [version("v1", spec({ size: whole }))],
});

const pair = struct({ name: text, value: whole }, { required: ["name"] });
const embeddedPod = { ...embedded, properties: { spec: struct({ known: text }) } };
/** One property for each keyword of a schema. */
const sampleSpec: JsonObject = {
  text,
  whole,
  flag: { type: "boolean" },
  number: { type: "number" },
  free,
  any: keeps,
  from1to10: { ...whole, minimum: 1, maximum: 10 },
  above0: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
  fives: { ...whole, multipleOf: 5 },
  tenths: { type: "number", multipleOf: 0.1 },
  int32: { ...whole, format: "int32" },
  int64: { ...whole, format: "int64" },
  short: { ...text, minLength: 2, maxLength: 4 },
  lower: { ...text, pattern: "^[a-z]+$" },
  choice: { ...text, enum: ["a", "b"] },
  one: { ...whole, enum: [1, 2] },
  few: list(text, { minItems: 1, maxItems: 2 }),
  pairs: mapOf(whole, { minProperties: 1, maxProperties: 2 }),
  maybe: { ...text, nullable: true },
  maybeDefault: { ...text, nullable: true, default: "given" },
  defaulted: { ...text, default: "given" },
  inner: struct({ a: { ...text, default: "a" }, b: { ...whole, default: 1 } }, { default: {} }),
  innerLater: struct({ a: { ...text, default: "a" } }),
  port: mixed,
  portAny: { ...mixed, anyOf: wholeOrText, pattern: "^[a-z]*$" },
  set: set(text),
  map: keyedBy(pair, "name"),
  objects: list(pair),
  embedded: { ...embedded, ...keeps },
  closed: embeddedPod,
  many: list(embeddedPod),
  mapped: mapOf(embeddedPod),
  either: struct({ a: text, b: text }, { oneOf: aOrB }),
  some: struct({ a: text, b: text }, { anyOf: aOrB }),
  both: struct({ a: text, b: text }, { allOf: aOrB }),
  never: { ...text, not: { enum: ["x"] } },
  strict: struct({ must: text, may: text }, { required: ["must"] }),
  ...Object.fromEntries(
    "date-time date byte uuid ipv4 ipv6 cidr hostname email uri duration password mac"
      .split(" ")
      .map((format) => [format.replaceAll("-", ""), { type: "string", format }]),
  ),
};
const samples = definitionOf({
  plural: "samples",
  kind: "Sample",
  versions: [version("v1", spec(sampleSpec))],
});

/** A field for each format, of texts and of numbers. */
const formats = definitionOf({
  plural: "formats",
  kind: "Format",
  versions: [
    version(
      "v1",
      spec(
        Object.fromEntries<Json>([
          ...textFormats.map((format) => [format.replaceAll("-", "_"), { ...text, format }] as const),
          ...["int32", "int64", "strange"].map(
            (format) => [`number_${format}`, { ...whole, format }] as const,
          ),
          ...["float", "double"].map((format) => [`number_${format}`, { type: "number", format }] as const),
        ]),
      ),
    ),
  ],
});

const part = struct({ name: text, value: whole, tags: set(text), free }, { required: ["name"] });
const port = struct(
  { port: whole, protocol: { ...text, default: "TCP" }, name: text },
  { required: ["port"] },
);
/** One property for each sort of list and map. */
const bundleSpec: JsonObject = {
  size: whole,
  colour: { ...text, default: "red" },
  parts: keyedBy(part, "name"),
  ports: keyedBy(port, "port", "protocol"),
  tags: set(text),
  words: list(text),
  objects: list(part),
  labels: mapOf(text),
  tables: mapOf(part),
  selector: { ...mapOf(text), "x-kubernetes-map-type": "atomic" },
  pair: struct({ a: text, b: struct({ c: whole, d: whole }) }),
  maybe: { ...text, nullable: true },
  free,
  any: keeps,
  mixed,
  embedded: { ...embedded, ...keeps },
};
const bundleStatus = struct({
  seen: whole,
  conditions: keyedBy(struct({ type: text, status: text }, { required: ["type"] }), "type"),
});
const bundleSchema = struct({ spec: struct(bundleSpec), status: bundleStatus });

/** A definition for server-side apply, with a status and two versions. */
const bundles = definitionOf({
  plural: "bundles",
  kind: "Bundle",
  versions: [
    version("v1", bundleSchema, { subresources: { status: {} } }),
    version("v1beta1", bundleSchema, { storage: false, subresources: { status: {} } }),
  ],
});

export const fixturePlurals = ["widgets", "gadgets", "samples", "formats", "bundles"];

/** All definitions, and the wait until each is served. */
export const fixtures: Case = {
  name: "definitions",
  steps: [
    ...[widgets, gadgetDefinition, samples, formats, bundles].map((definition): Step =>
      post(definitions, definition),
    ),
    ...fixturePlurals.map((plural) => awaited(`/apis/example.com/v1/${plural}`)),
  ],
};

export const widgetsIn = "/apis/example.com/v1/namespaces/<ns>/widgets";
export const samplesIn = "/apis/example.com/v1/namespaces/<ns>/samples";
export const gadgetsAt = "/apis/example.com/v1/gadgets";
export const widget = (
  name: string,
  more: JsonObject = { spec: { size: 1 } },
  metadata: JsonObject = {},
): JsonObject => object("example.com/v1", "Widget", name, more, metadata);
export const sample = (given: Json): JsonObject => object("example.com/v1", "Sample", "s", { spec: given });

export const bundlesIn = "/apis/example.com/v1/namespaces/<ns>/bundles";
export const bundle = (name: string, more: JsonObject = {}, metadata: JsonObject = {}): JsonObject =>
  object("example.com/v1", "Bundle", name, more, metadata);

export const formatsIn = "/apis/example.com/v1/namespaces/<ns>/formats";
export const formatted = (given: Json): JsonObject =>
  object("example.com/v1", "Format", "f", { spec: given });

export const configMapsIn = "/api/v1/namespaces/<ns>/configmaps";
export const configMap = (name: string, more: JsonObject = {}, metadata: JsonObject = {}): JsonObject =>
  object("v1", "ConfigMap", name, more, metadata);
export const podsIn = "/api/v1/namespaces/<ns>/pods";
export const pod = (name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject =>
  object("v1", "Pod", name, { spec: { containers: [{ name: "main", image: "image" }], ...spec } }, metadata);
export const servicesIn = "/api/v1/namespaces/<ns>/services";
export const service = (name: string, spec: JsonObject = {}): JsonObject =>
  object("v1", "Service", name, { spec: { ports: [{ port: 80 }], ...spec } });
/** A Service and a Deployment with all values that a server would set by default. */
export const completeService = (ports: readonly JsonObject[], spec: JsonObject = {}): JsonObject =>
  object("v1", "Service", "a", {
    spec: {
      ports,
      clusterIP: "None",
      clusterIPs: ["None"],
      type: "ClusterIP",
      sessionAffinity: "None",
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ...spec,
    },
  });
export const completeContainer = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  image: "image",
  imagePullPolicy: "Always",
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
  resources: {},
  ...more,
});
export const completeDeployment = (containers: readonly JsonObject[], podSpec: JsonObject = {}): JsonObject =>
  object("apps/v1", "Deployment", "a", {
    spec: {
      selector: { matchLabels: { app: "a" } },
      template: {
        metadata: { labels: { app: "a" } },
        spec: {
          containers,
          restartPolicy: "Always",
          terminationGracePeriodSeconds: 30,
          dnsPolicy: "ClusterFirst",
          securityContext: {},
          schedulerName: "default-scheduler",
          ...podSpec,
        },
      },
    },
  });
export const deploymentsIn = "/apis/apps/v1/namespaces/<ns>/deployments";
export const gadget = (name: string, metadata: JsonObject = {}): JsonObject =>
  object("example.com/v1", "Gadget", name, {}, metadata);

/** Binds a pod to a node. */
export const bind = (name: string): Step =>
  post(`${podsIn}/${name}/binding`, object("v1", "Binding", name, { target: { kind: "Node", name: "n" } }));
