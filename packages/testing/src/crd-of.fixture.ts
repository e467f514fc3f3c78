/** What differs between the kinds of the tests. */
interface KindOfTest {
  readonly group: string;
  readonly kind: string;
  /** Default: the kind in lower case, with an `s`. */
  readonly plural?: string;
  readonly version?: string;
  readonly openAPIV3Schema: object;
  /** Further fields of its version. Default: a status subresource. */
  readonly more?: object;
}

/** The CustomResourceDefinition of a namespaced kind with one version. */
export function crdOf(of: KindOfTest) {
  const { group, kind, version = "v1", openAPIV3Schema, more = { subresources: { status: {} } } } = of;
  const singular = kind.toLowerCase();
  const { plural = `${singular}s` } = of;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, singular, kind, listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema }, ...more }],
    },
  };
}
