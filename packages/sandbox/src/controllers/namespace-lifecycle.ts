// The namespace controller of kube-controller-manager: it empties deleted namespaces, at once and inside the server.
import { namespacesBucket } from "../storage/cluster.ts";
import type { Cluster } from "../storage/cluster.ts";
import { deleteObject } from "../writing/deletions.ts";
import { textsAt } from "../json.ts";
import { beingDeleted, finalizersOf, nameOf, namespaceOf, withTop } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import type { ResourceType } from "../kinds/resource-type.ts";

/** Starts to empty deleted namespaces. It runs inside the notifications of the store, so it needs no stop. */
export function keepNamespaces(cluster: Cluster): void {
  cluster.store.subscribe(namespacesBucket, ({ type, object }) => {
    if (type !== "DELETED" && beingDeleted(object)) emptyNamespace(cluster, nameOf(object));
  });
  cluster.store.subscribeAll(({ type, object }) => {
    const home =
      type === "DELETED" ? cluster.store.get(namespacesBucket, "", namespaceOf(object)) : undefined;
    if (home && beingDeleted(home)) releaseNamespace(cluster, home);
  });
}

/** One type for each bucket of objects in namespaces. */
function namespacedTypes(cluster: Cluster): ResourceType[] {
  const types = cluster.types().filter((type) => type.namespaced);
  return [...new Map(types.map((type) => [type.bucket, type])).values()];
}

function emptyNamespace(cluster: Cluster, namespace: string): void {
  for (const type of namespacedTypes(cluster))
    for (const object of cluster.store.list(type.bucket).objects)
      if (namespaceOf(object) === namespace && !beingDeleted(object)) deleteObject(cluster, type, object);
  const home = cluster.store.get(namespacesBucket, "", namespace);
  if (home) releaseNamespace(cluster, home);
}

function releaseNamespace(cluster: Cluster, namespace: KubeObject): void {
  const name = nameOf(namespace);
  const full = namespacedTypes(cluster).some(({ bucket }) =>
    cluster.store.list(bucket).objects.some((object) => namespaceOf(object) === name),
  );
  if (full) return;
  const finalizers = textsAt(namespace, "spec", "finalizers");
  const left = finalizers.filter((one) => one !== "kubernetes");
  const spec = left.length > 0 ? { finalizers: left } : {};
  if (left.length + finalizersOf(namespace).length === 0) cluster.store.remove(namespacesBucket, "", name);
  else if (left.length < finalizers.length)
    cluster.store.put(namespacesBucket, withTop(namespace, "spec", spec));
}
