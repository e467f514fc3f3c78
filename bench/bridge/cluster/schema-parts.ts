/** Parts of a kind's schema. */
export const text = { type: "string" };
export const integer = { type: "integer" };
export const object = (properties: object): object => ({ type: "object", properties });
export const listOf = (items: object): object => ({ type: "array", items });

interface Defined {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The CustomResourceDefinition of a kind with one version. */
export const definitionOf = (
  { group, version, plural, kind, namespaced }: Defined,
  { schema, subresources = {} }: { readonly schema: object; readonly subresources?: object },
) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: namespaced ? "Namespaced" : "Cluster",
    names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      { name: version, served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources },
    ],
  },
});
