import { crdOf } from "../../../verification/harness/manifests.ts";
import { type Api, until } from "./api.ts";
import { integer, listOf, object, text } from "./schema-parts.ts";

/** An object, by `namespace/name`. */
export type Key = string;

export interface NumberedKindOptions {
  readonly group: string;
  readonly kind: string;
  /** The schema of each field of its spec. */
  readonly spec: object;
  readonly subresources: object;
}

/** A kind for a bench: its objects are numbered, and are in ten namespaces. */
export type NumberedKind = ReturnType<typeof numberedKind>;

const namespaceCount = 10;

export function numberedKind({ group, kind, spec, subresources }: NumberedKindOptions) {
  const [prefix = ""] = group.split(".");
  const singular = kind.toLowerCase();
  const served = { group, version: "v1", kind, plural: `${singular}s` };
  const openAPIV3Schema = object({ spec: object(spec), status });
  const definition = crdOf({ ...served, openAPIV3Schema, more: { subresources } });
  const { name } = definition.metadata;
  const collectionIn = (namespace: string): string =>
    `/apis/${group}/v1/namespaces/${namespace}/${served.plural}`;
  return {
    definition,
    group,
    /** The name of its definition, after which its controller is named, too. */
    name,
    namespaces: Array.from({ length: namespaceCount }, (_, i) => `${prefix}-${i}`),
    keyOf: (i: number): Key => `${prefix}-${i % namespaceCount}/${singular}-${String(i).padStart(6, "0")}`,
    /** Paths of all objects, of those of a namespace, and of one. */
    collection: `/apis/${group}/v1/${served.plural}`,
    collectionIn,
    pathOf: (key: Key): string => `${collectionIn(parted(key).namespace)}/${parted(key).name}`,
    createPath: (key: Key): string => `${collectionIn(parted(key).namespace)}?fieldValidation=Ignore`,
    /** An object, with more metadata and with other fields. */
    object: (key: Key, metadata: object, fields: object): object => ({
      apiVersion: `${group}/v1`,
      kind,
      metadata: { ...parted(key), ...metadata },
      ...fields,
    }),
    /** The ReconcileFunction of its controller, with more in its spec. */
    reconcileFunction: <More extends object>(more: More) => ({
      apiVersion: "drover.dev/v1alpha1",
      kind: "ReconcileFunction",
      metadata: { name },
      spec: { for: { ...served, scope: "Namespaced" as const }, ...more },
    }),
  };
}

const parted = (key: Key): { readonly namespace: string; readonly name: string } => {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
};

const generation = { ...integer, format: "int64" };
const status = object({
  observedGeneration: generation,
  conditions: listOf(
    object({
      type: text,
      status: text,
      reason: text,
      message: text,
      observedGeneration: generation,
      lastTransitionTime: { ...text, format: "date-time" },
    }),
  ),
});

/** Defines a kind, creates its namespaces, and waits until the API server serves it. */
export async function install(api: Api, { definition, namespaces, collection }: NumberedKind): Promise<void> {
  const post = (path: string, content: object): Promise<string> =>
    api.send("POST", path, { type: "application/json", content });
  await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  await Promise.all(namespaces.map((name) => post("/api/v1/namespaces", { metadata: { name } })));
  await until(() => api.send("GET", `${collection}?limit=1`));
}
