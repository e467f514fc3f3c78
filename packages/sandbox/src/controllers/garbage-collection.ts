// The garbage collector of kube-controller-manager: it deletes objects after their owners or before them, or removes
// the references to owners. All of it has happened when the request that caused it is answered.
import { isHeld } from "../admission/admission.ts";
import type { Cluster } from "../storage/cluster.ts";
import { inForeground, orphaning } from "../writing/deletion-policy.ts";
import type { Propagation } from "../writing/deletion-policy.ts";
import { withManagers } from "../writing/managed-fields.ts";
import { field, isObject, listAt, textAt } from "../json.ts";
import type { Json } from "../json.ts";
import { beingDeleted, finalizersOf, keyOf, nameOf, namespaceOf, uidOf, withMeta } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { apiVersionOf } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import { deleteObject } from "../writing/deletions.ts";

/** The place of an object, which may by now hold another object. */
interface Place {
  readonly bucket: string;
  readonly namespace: string;
  readonly name: string;
}

/** The target of an owner reference: an object, nothing, or an object of an unknown kind. */
type Owner = KubeObject | "absent" | "unknown";

const referencesOf = (object: KubeObject): readonly Json[] => listAt(object, "metadata", "ownerReferences");
const uidIn = (reference: Json): string => textAt(reference, "uid") ?? "";
const waitsFor = (finalizer: string, object: KubeObject): boolean =>
  beingDeleted(object) && finalizersOf(object).includes(finalizer);
const placeOf = (bucket: string, object: KubeObject): Place => ({
  bucket,
  namespace: namespaceOf(object),
  name: nameOf(object),
});

/** The dependents in the store by the uid of their owners, updated with every change. */
function createGraph(cluster: Cluster) {
  const places = new Map<string, Map<string, Place>>();
  const id = ({ bucket, namespace, name }: Place): string => `${bucket}/${keyOf(namespace, name)}`;
  return {
    changed(place: Place, before: KubeObject | undefined, after: KubeObject | undefined): void {
      for (const uid of (before ? referencesOf(before) : []).map(uidIn)) {
        places.get(uid)?.delete(id(place));
        if (places.get(uid)?.size === 0) places.delete(uid);
      }
      for (const uid of (after ? referencesOf(after) : []).map(uidIn)) {
        const of = places.get(uid) ?? new Map<string, Place>();
        places.set(uid, of.set(id(place), place));
      }
    },
    dependentsOf: (uid: string): [Place, KubeObject][] =>
      [...(places.get(uid)?.values() ?? [])].flatMap((place): [Place, KubeObject][] => {
        const object = cluster.store.get(place.bucket, place.namespace, place.name);
        return object && referencesOf(object).some((one) => uidIn(one) === uid) ? [[place, object]] : [];
      }),
  };
}
type Graph = ReturnType<typeof createGraph>;

const typeIn = (cluster: Cluster, bucket: string): ResourceType | undefined =>
  cluster.types().find((type) => type.bucket === bucket);

const typeNamed = (cluster: Cluster, apiVersion?: string, kind?: string): ResourceType | undefined =>
  cluster.types().find((type) => type.kind === kind && apiVersionOf(type) === apiVersion);

/** Looks an owner up in the namespace of the dependent. An owner of a kind that is not served is unknown. */
function ownerOf(cluster: Cluster, dependent: KubeObject, reference: Json): Owner {
  const type = typeNamed(cluster, textAt(reference, "apiVersion"), textAt(reference, "kind"));
  const namespace = type?.namespaced === true ? namespaceOf(dependent) : "";
  if (!type || (type.namespaced && namespace === "")) return "unknown";
  const found = cluster.store.get(type.bucket, namespace, textAt(reference, "name") ?? "");
  return found && uidOf(found) === uidIn(reference) ? found : "absent";
}

/** Starts the collector. It runs inside the notifications of the store, so it needs no stop. */
export function collectGarbage(cluster: Cluster): void {
  const graph = createGraph(cluster);
  cluster.store.subscribeAll(({ type, bucket, object, previous }) => {
    const place = placeOf(bucket, object);
    const gone = type === "DELETED";
    graph.changed(place, previous, gone ? undefined : object);
    if (gone) for (const [where] of graph.dependentsOf(uidOf(object))) attend(cluster, graph, where);
    else attend(cluster, graph, place);
    // An owner that waits for its dependents may wait for this one.
    for (const reference of [...(previous ? referencesOf(previous) : []), ...referencesOf(object)]) {
      const owner = ownerOf(cluster, object, reference);
      if (typeof owner === "object" && waitsFor(inForeground, owner)) {
        const of = typeNamed(cluster, textAt(reference, "apiVersion"), textAt(reference, "kind"));
        if (of) attend(cluster, graph, placeOf(of.bucket, owner));
      }
    }
  });
}

/** Does all that is due for one object now. */
function attend(cluster: Cluster, graph: Graph, place: Place): void {
  const object = cluster.store.get(place.bucket, place.namespace, place.name);
  const type = typeIn(cluster, place.bucket);
  if (!object || !type) return;
  if (waitsFor(orphaning, object)) orphanDependents(cluster, graph, type, object);
  else if (waitsFor(inForeground, object)) deleteDependents(cluster, graph, type, object);
  else if (!beingDeleted(object) && referencesOf(object).length > 0) weigh(cluster, graph, type, object);
}

/** Keeps an object while one of its owners stays, and deletes it with the last owner. */
function weigh(cluster: Cluster, graph: Graph, type: ResourceType, object: KubeObject): void {
  const owners = referencesOf(object).map((one) => [one, ownerOf(cluster, object, one)] as const);
  if (owners.some(([, owner]) => owner === "unknown")) return;
  const waiting = owners.filter(([, owner]) => typeof owner === "object" && waitsFor(inForeground, owner));
  const absent = owners.filter(([, owner]) => owner === "absent");
  const leaving = [...waiting, ...absent].map(([reference]) => reference);
  const solid = owners.length - leaving.length;
  if (leaving.length === 0) return;
  if (solid > 0) {
    withoutOwners(cluster, type, object, leaving.map(uidIn));
    return;
  }
  const has = graph.dependentsOf(uidOf(object));
  if (waiting.length === 0 || has.length === 0) {
    deleteObject(cluster, type, object, { propagation: askedBefore(object) });
    return;
  }
  // In a circle of owners, an owner cannot wait for an object that it blocks.
  const circular = has.some(([, one]) => waitsFor(inForeground, one));
  const current = circular ? unblocked(cluster, type, object) : object;
  deleteObject(cluster, type, current, { propagation: "Foreground" });
}

const askedBefore = (object: KubeObject): Propagation =>
  finalizersOf(object).includes(orphaning)
    ? "Orphan"
    : finalizersOf(object).includes(inForeground)
      ? "Foreground"
      : "Background";

/** Deletes the dependents of an owner, and the owner once no dependent blocks it. */
function deleteDependents(cluster: Cluster, graph: Graph, type: ResourceType, owner: KubeObject): void {
  const uid = uidOf(owner);
  for (const [place, dependent] of graph.dependentsOf(uid))
    if (!beingDeleted(dependent)) attend(cluster, graph, place);
  const blocks = (one: Json): boolean => uidIn(one) === uid && field(one, "blockOwnerDeletion") === true;
  const left = graph.dependentsOf(uid).some(([, dependent]) => referencesOf(dependent).some(blocks));
  if (!left) released(cluster, type, owner, inForeground);
}

function orphanDependents(cluster: Cluster, graph: Graph, type: ResourceType, owner: KubeObject): void {
  for (const [place, dependent] of graph.dependentsOf(uidOf(owner))) {
    const of = typeIn(cluster, place.bucket);
    if (of) withoutOwners(cluster, of, dependent, [uidOf(owner)]);
  }
  released(cluster, type, owner, orphaning);
}

/**
 * Writes a change of the collector. If the object has changed meanwhile, does nothing: that change is handled itself.
 */
function write(cluster: Cluster, type: ResourceType, live: KubeObject, next: KubeObject): KubeObject {
  if (cluster.store.get(type.bucket, namespaceOf(live), nameOf(live)) !== live) return live;
  const writing = { type, subresource: "", manager: "kube-controller-manager" };
  return cluster.store.put(type.bucket, withManagers(cluster, writing, next, live));
}

function withoutOwners(
  cluster: Cluster,
  type: ResourceType,
  object: KubeObject,
  uids: readonly string[],
): void {
  const kept = referencesOf(object).filter((one) => !uids.includes(uidIn(one)));
  write(cluster, type, object, withMeta(object, "ownerReferences", kept.length > 0 ? kept : undefined));
}

function unblocked(cluster: Cluster, type: ResourceType, object: KubeObject): KubeObject {
  const references = referencesOf(object).map((one) => ({
    ...(isObject(one) ? one : {}),
    blockOwnerDeletion: false,
  }));
  return write(cluster, type, object, withMeta(object, "ownerReferences", references));
}

/** Removes the finalizer, and the object if nothing else holds it. */
function released(cluster: Cluster, type: ResourceType, object: KubeObject, finalizer: string): void {
  const left = finalizersOf(object).filter((one) => one !== finalizer);
  const next = withMeta(object, "finalizers", left.length > 0 ? left : undefined);
  if (isHeld(type, next)) write(cluster, type, object, next);
  else cluster.store.remove(type.bucket, namespaceOf(object), nameOf(object));
}
