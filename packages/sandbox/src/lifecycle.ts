// What a real cluster does with namespaces and definitions after a request, at once and inside the server:
// definitions are established and, when deleted, take their objects along; so do namespaces.
import { timestamp } from "./admission.ts";
import { definitionsBucket, namespacesBucket } from "./cluster.ts";
import type { Cluster } from "./cluster.ts";
import { cleanupFinalizer, typesOf, withCondition } from "./custom-resources.ts";
import { ownersAfter, withOwners } from "./field-tracking.ts";
import { equal, field, objectAt, textsAt } from "./json.ts";
import { beingDeleted, finalizersOf, nameOf, namespaceOf, withMeta, withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import type { Owners } from "./managed-fields.ts";
import type { ResourceType } from "./resource-type.ts";
import type { Change } from "./store.ts";
import { deleteObject } from "./deletions.ts";

/** Starts looking after definitions, as the API server itself does. Runs inside the store's notifications: there is nothing to stop. */
export function keepDefinitions(cluster: Cluster): void {
  cluster.store.subscribe(definitionsBucket, (change) => keepDefinition(cluster, change));
  cluster.store.subscribeAll(({ type, bucket }) => {
    const definition = type === "DELETED" ? cluster.store.get(definitionsBucket, "", bucket) : undefined;
    if (definition && beingDeleted(definition)) releaseDefinition(cluster, definition);
  });
}

/** Starts emptying deleted namespaces, as kube-controller-manager does. */
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

function keepDefinition(cluster: Cluster, { type, object }: Change): void {
  const current = cluster.store.get(definitionsBucket, "", nameOf(object));
  if (type === "DELETED" || current !== object) return;
  if (!beingDeleted(object)) {
    establish(cluster, object);
    return;
  }
  for (const one of cluster.store.list(nameOf(object)).objects)
    for (const served of typesOf(object).slice(0, 1))
      if (!beingDeleted(one)) deleteObject(cluster, served, one);
  releaseDefinition(cluster, object);
}

const names = {
  accepted: ["True", "NoConflicts", "no conflicts found"],
  taken: ["False", "KindConflict", "the kind is already in use"],
} as const;
const served = {
  accepted: ["True", "InitialNamesAccepted", "the initial names have been accepted"],
  taken: ["False", "NotAccepted", "not all names are accepted"],
} as const;

/** Accepts the names, unless another definition of the group has the kind already, and serves the definition. */
function establish(cluster: Cluster, definition: KubeObject): void {
  const now = timestamp(cluster.now());
  const wanted = objectAt(definition, "spec", "names");
  const rivals = cluster.store
    .list(definitionsBucket)
    .objects.filter((other) => nameOf(other) !== nameOf(definition));
  const isTaken = rivals.some(
    (other) =>
      field(other, "spec", "group") === field(definition, "spec", "group") &&
      field(other, "status", "acceptedNames", "kind") === wanted["kind"],
  );
  const how = isTaken ? "taken" : "accepted";
  const next = [["NamesAccepted", ...names[how]] as const, ["Established", ...served[how]] as const].reduce(
    (object, [type, status, reason, message]) =>
      withCondition(object, { type, status, reason, message }, now),
    definition,
  );
  const acceptedNames = isTaken ? objectAt(definition, "status", "acceptedNames") : wanted;
  const settled = withTop(next, "status", { ...objectAt(next, "status"), acceptedNames });
  if (equal(settled, definition)) return;
  cluster.store.put(definitionsBucket, withOwners(settled, ownersOfStatus(cluster, definition, settled)));
}

function ownersOfStatus(cluster: Cluster, live: KubeObject, next: KubeObject): Owners {
  const type = cluster.typeOf("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  const change = { live, next, body: {}, manager: "kube-apiserver" };
  return type ? ownersAfter(cluster, { type, subresource: "status" }, change) : new Map();
}

function releaseDefinition({ store }: Cluster, definition: KubeObject): void {
  const left = finalizersOf(definition).filter((one) => one !== cleanupFinalizer);
  const isLast = store.list(nameOf(definition)).objects.length === 0;
  if (!isLast || left.length === finalizersOf(definition).length) return;
  if (left.length === 0) store.remove(definitionsBucket, "", nameOf(definition));
  else store.put(definitionsBucket, withMeta(definition, "finalizers", left));
}

/** One type for each bucket with namespaces. */
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
