/** A kind for tests and benchmarks. */
interface TestKind {
  readonly group: string;
  readonly kind: string;
  /** Default: the kind in lower case, with an `s`. */
  readonly plural?: string;
  readonly version?: string;
  readonly scope?: "Namespaced" | "Cluster";
  readonly openAPIV3Schema: object;
  /** Further fields of its version. Default: a status subresource. */
  readonly more?: object;
}

/** The CustomResourceDefinition of a kind with one version. Default: v1, in namespaces. */
export function crdOf(of: TestKind) {
  const { group, kind, version = "v1", scope = "Namespaced", openAPIV3Schema } = of;
  const singular = kind.toLowerCase();
  const { plural = `${singular}s`, more = { subresources: { status: {} } } } = of;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, singular, kind, listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema }, ...more }],
    },
  };
}
