import { type Resource, ReconcileFunction } from "@drover/controller";
import { crdOf } from "../../packages/testing/src/crd-of.fixture.ts";

export { crdOf };

/** A manifest, of which only the identity is fixed. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: object;
    readonly annotations?: object;
  };
  readonly [field: string]: unknown;
}

/** An object of a kind, in the namespace `default` unless another is given. Without `spec` it only names the object. */
export const object = (
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  name: string,
  spec?: object,
  namespace = "default",
) => ({ apiVersion, kind, metadata: { name, namespace }, ...(spec && { spec }) });

/** An object of the core group, with other fields than `spec`. */
export const core = (kind: string, name: string, fields: object = {}, namespace = "default"): Manifest => ({
  ...object({ apiVersion: "v1", kind }, name, undefined, namespace),
  ...fields,
});

/** @param values not encoded; null removes a value. */
export const secret = (name: string, values: Readonly<Record<string, string | null>>, namespace?: string) => {
  const encoded = Object.entries(values).map(([key, value]) => [
    key,
    value && Buffer.from(value).toString("base64"),
  ]);
  return core("Secret", name, { data: Object.fromEntries(encoded) as object }, namespace);
};

export const namespaceNamed = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/** The manifest with these fields in its metadata. */
export const withMetadata = (
  { metadata, ...rest }: Pick<Manifest, "apiVersion" | "kind" | "metadata">,
  more: object,
): Manifest => ({ ...rest, metadata: { ...metadata, ...more } });

/** The manifest in the namespace `default`. */
export const inDefault = <M extends { readonly metadata: { readonly name: string } }>({
  metadata,
  ...rest
}: M) => ({ ...rest, metadata: { ...metadata, namespace: "default" } });

/** A kind as a ReconcileFunction names it. */
export const kindRef = ({ group, version, kind, plural, scope }: Resource) => ({
  group,
  version,
  kind,
  plural,
  scope,
});

/** A kind of the core group, as a ReconcileFunction names it. */
export const coreKind = (kind: string, more: object = {}) => ({
  group: "",
  version: "v1",
  kind,
  plural: `${kind.toLowerCase()}s`,
  scope: "Namespaced",
  ...more,
});

/** The ReconcileFunction of a kind. */
export const functionFor = (kind: Resource, name: string, spec: object = {}, namespace?: string) =>
  object(ReconcileFunction, name, { for: kindRef(kind), ...spec }, namespace);

/** The definition of a kind whose objects may have any fields. */
export const looseKind = (group: string, kind: string, version = "v1alpha1") => {
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return crdOf({ group, kind, version, openAPIV3Schema, more: {} });
};
