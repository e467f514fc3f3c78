// What kube-controller-manager's garbage collector does: objects go with their owners, at once or before them, or lose
// them. Everything has happened when the answer to the request that caused it is sent.
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

/** Where an object is, whichever it is by now. */
interface Place {
  readonly bucket: string;
  readonly namespace: string;
  readonly name: string;
}

/** What an owner reference names: an object, nothing, or what cannot be looked up. */
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

/** Dependents by the uid of their owners: what is in the store, kept up with every change. */
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

/** Owners are looked for in the dependent's own namespace; one of a kind that is not served is not known to be gone. */
function ownerOf(cluster: Cluster, dependent: KubeObject, reference: Json): Owner {
  const type = typeNamed(cluster, textAt(reference, "apiVersion"), textAt(reference, "kind"));
  const namespace = type?.namespaced === true ? namespaceOf(dependent) : "";
  if (!type || (type.namespaced && namespace === "")) return "unknown";
  const found = cluster.store.get(type.bucket, namespace, textAt(reference, "name") ?? "");
  return found && uidOf(found) === uidIn(reference) ? found : "absent";
}

/** Starts collecting. Runs inside the store's notifications: there is nothing to stop. */
export function collectGarbage(cluster: Cluster): void {
  const graph = createGraph(cluster);
  cluster.store.subscribeAll(({ type, bucket, object, previous }) => {
    const place = placeOf(bucket, object);
    const gone = type === "DELETED";
    graph.changed(place, previous, gone ? undefined : object);
    if (gone) for (const [where] of graph.dependentsOf(uidOf(object))) attend(cluster, graph, where);
    else attend(cluster, graph, place);
    // Whoever waits for its dependents may be waiting for this one.
    for (const reference of [...(previous ? referencesOf(previous) : []), ...referencesOf(object)]) {
      const owner = ownerOf(cluster, object, reference);
      if (typeof owner === "object" && waitsFor(inForeground, owner)) {
        const of = typeNamed(cluster, textAt(reference, "apiVersion"), textAt(reference, "kind"));
        if (of) attend(cluster, graph, placeOf(of.bucket, owner));
      }
    }
  });
}

/** Does what is to be done about one object now. */
function attend(cluster: Cluster, graph: Graph, place: Place): void {
  const object = cluster.store.get(place.bucket, place.namespace, place.name);
  const type = typeIn(cluster, place.bucket);
  if (!object || !type) return;
  if (waitsFor(orphaning, object)) orphanDependents(cluster, graph, type, object);
  else if (waitsFor(inForeground, object)) deleteDependents(cluster, graph, type, object);
  else if (!beingDeleted(object) && referencesOf(object).length > 0) weigh(cluster, graph, type, object);
}

/** Keeps an object while one of its owners stays, and lets it go with the last. */
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
  // A circle of owners: one that is waited for cannot wait for what it blocks.
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

/** Of an owner that goes last: its dependents first, and itself when none is left that holds it. */
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

/** Writes as the collector does, unless the object has changed meanwhile: then its own change is attended to. */
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

/** Takes the finalizer off, and the object away where it was the last thing that held it. */
function released(cluster: Cluster, type: ResourceType, object: KubeObject, finalizer: string): void {
  const left = finalizersOf(object).filter((one) => one !== finalizer);
  const next = withMeta(object, "finalizers", left.length > 0 ? left : undefined);
  if (isHeld(type, next)) write(cluster, type, object, next);
  else cluster.store.remove(type.bucket, namespaceOf(object), nameOf(object));
}
