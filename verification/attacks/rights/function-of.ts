import type { CertifiedUser } from "@drover/real-cluster";
import { coreKind } from "../../harness/manifests.ts";
import type { Installation } from "../installation.ts";
import { ReconcileFunction } from "@drover/controller";

/** A ReconcileFunction as an attacker writes it, valid or not. */
export const functionOf = (
  namespace: string,
  name: string,
  spec: object = {},
  annotations: Readonly<Record<string, string>> = {},
) => ({
  apiVersion: ReconcileFunction.apiVersion,
  kind: ReconcileFunction.kind,
  metadata: { name, namespace, annotations },
  spec: {
    for: coreKind("ConfigMap", { namespaces: [namespace] }),
    container: { image: "registry.example.com/evil:1" },
    ...spec,
  },
});

/** The ServiceAccount of a function, as a user of the API server. */
export const accountOf = (namespace: string, name: string): CertifiedUser => ({
  user: `system:serviceaccount:${namespace}:${name}`,
});

export const everything = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];

/** Makes a user an author of functions in one namespace. */
export async function makeAuthor(
  { grant }: Installation,
  user: CertifiedUser,
  namespace: string,
): Promise<void> {
  await grant(user, authorRules, namespace);
  await grant(user, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] }]);
}

/** A namespace, and the kubeconfig of a user that is an author of functions in it. */
export async function authorIn(
  installation: Installation,
  namespace: string,
  user: CertifiedUser,
): Promise<{ readonly namespace: string; readonly as: string }> {
  await installation.namespace(namespace);
  await makeAuthor(installation, user, namespace);
  return { namespace, as: await installation.kubeconfigOf(user) };
}

/** Waits until the admission policies name authors again, after an attack that took them away. */
export async function untilNamed(
  { apply, kubectl, until }: Installation,
  { namespace, user, as }: { readonly namespace: string; readonly user: string; readonly as: string },
): Promise<void> {
  const author = "jsonpath={.metadata.annotations.drover\\.dev/author}";
  await until("authors are named again", async () => {
    const again = functionOf(namespace, "again", { container: { image: `again:${Math.random()}` } });
    const isTaken = await apply([again], { as }).then(
      () => true,
      () => false,
    );
    return isTaken && (await kubectl(["get", "rf", "again", "-n", namespace, "-o", author])) === user;
  });
}

/** The permissions of an author of functions in its namespace. */
const authorRules = [
  { apiGroups: ["drover.dev"], resources: ["reconcilefunctions"], verbs: ["*"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["create"] },
  { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] },
];
