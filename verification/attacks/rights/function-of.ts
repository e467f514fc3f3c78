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

/** Where the admission policies write a function's author. */
export const authorField = ".metadata.annotations.drover\\.dev/author";

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
  { apply, fieldOf, until }: Installation,
  { namespace, user, as }: { readonly namespace: string; readonly user: string; readonly as: string },
): Promise<void> {
  await until("authors are named again", async () => {
    const again = functionOf(namespace, "again", { container: { image: `again:${Math.random()}` } });
    const isTaken = await apply([again], { as }).then(
      () => true,
      () => false,
    );
    return isTaken && (await fieldOf(namespace, "again", authorField)) === user;
  });
}

/**
 * Takes from an author all that was granted in a namespace, but for what an author of functions needs. Resolves with the
 * seconds until nothing is held any more, or with Infinity where something is held after 90 s.
 */
export async function withdraw(
  installation: Installation,
  author: CertifiedUser,
  { namespace, isHeld }: { readonly namespace: string; readonly isHeld: () => Promise<boolean> },
): Promise<number> {
  const { kubectl, until } = installation;
  await kubectl(["delete", "rolebindings", "-n", namespace, "-l", "!drover.dev/function"]);
  await makeAuthor(installation, author, namespace);
  const begun = Date.now();
  const withdrawn = until("nothing is held any more", async () => !(await isHeld()));
  const seconds = (): number => Math.round((Date.now() - begun) / 1_000);
  return withdrawn.then(seconds, () => Infinity);
}

/** The permissions of an author of functions in its namespace. */
const authorRules = [
  { apiGroups: ["drover.dev"], resources: ["reconcilefunctions"], verbs: ["*"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["create"] },
  { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] },
];
