import type { Installation } from "../installation.ts";

const crd = "reconcilefunctions.drover.dev";

/**
 * Does something while the CRD checks nothing: what is written then is stored as an older version of Drover may have stored
 * it.
 */
export async function withoutSchema<T>({ kubectl, until }: Installation, act: () => Promise<T>): Promise<T> {
  const before = await kubectl(["get", "crd", crd, "-o", "json"]);
  const { spec } = JSON.parse(before) as { spec: { versions: { schema: object }[] } };
  const loose = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const patch = (versions: object) =>
    kubectl(["patch", "crd", crd, "--type=merge", "-p", JSON.stringify({ spec: { versions } })]);
  await patch(spec.versions.map((version) => ({ ...version, schema: loose })));
  try {
    return await until("the CRD takes anything", () => act().catch(() => undefined));
  } finally {
    await patch(spec.versions);
  }
}
