// The controllers of the API server for definitions, at once: they accept names, or refuse them while another
// definition has them; they establish definitions, and delete the objects of deleted definitions.
import { timestamp } from "../admission/admission.ts";
import { definitionsBucket } from "../storage/cluster.ts";
import type { Cluster } from "../storage/cluster.ts";
import { cleanupFinalizer, conditionOf, typesOf, withCondition } from "./custom-resources.ts";
import { deleteObject } from "../writing/deletions.ts";
import { withManagers } from "../writing/managed-fields.ts";
import { equal, field, objectAt, textAt, textsAt, withField } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { beingDeleted, finalizersOf, nameOf, withMeta, withTop } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import type { Change } from "../storage/store.ts";

/** Starts the controllers. They run inside the notifications of the store, so they need no stop. */
export function keepDefinitions(cluster: Cluster): void {
  cluster.store.subscribe(definitionsBucket, (change) => keepDefinition(cluster, change));
  cluster.store.subscribeAll(({ type, bucket }) => {
    const definition = type === "DELETED" ? cluster.store.get(definitionsBucket, "", bucket) : undefined;
    if (definition && beingDeleted(definition)) finish(cluster, definition);
  });
}

const groupOf = (definition: KubeObject): string => textAt(definition, "spec", "group") ?? "";

function keepDefinition(cluster: Cluster, { type, object }: Change): void {
  const current = cluster.store.get(definitionsBucket, "", nameOf(object));
  const isNow = type !== "DELETED" && current === object;
  if (isNow) accept(cluster, object);
  // Another definition of the group may wait for a name that this one had.
  for (const other of cluster.store.list(definitionsBucket).objects)
    if (groupOf(other) === groupOf(object) && nameOf(other) !== nameOf(object)) accept(cluster, other);
  const left = isNow ? cluster.store.get(definitionsBucket, "", nameOf(object)) : undefined;
  if (left && beingDeleted(left)) finish(cluster, left);
}

/** Writes the status, as the controllers of the server do. */
function write(cluster: Cluster, live: KubeObject, next: KubeObject): KubeObject {
  if (equal(next, live)) return live;
  const type = cluster.typeOf("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  if (!type) return live;
  const writing = { type, subresource: "status", manager: "kube-apiserver" };
  return cluster.store.put(definitionsBucket, withManagers(cluster, writing, next, live));
}

const resourceNames = ["plural", "singular"];
const kindNames = ["kind", "listKind"];
const reasons: Readonly<Record<string, string>> = {
  plural: "PluralConflict",
  singular: "SingularConflict",
  shortNames: "ShortNamesConflict",
  kind: "KindConflict",
  listKind: "ListKindConflict",
};

/** The names that a definition gets, and the conflict if it does not get all of those in its spec. */
function namesFor(
  cluster: Cluster,
  definition: KubeObject,
): { names: JsonObject; conflict?: readonly [reason: string, message: string] } {
  const wanted = objectAt(definition, "spec", "names");
  const had = objectAt(definition, "status", "acceptedNames");
  const taken = cluster.store
    .list(definitionsBucket)
    .objects.filter((one) => groupOf(one) === groupOf(definition))
    .map((one) => objectAt(one, "status", "acceptedNames"));
  const used = (keys: readonly string[]): (string | undefined)[] =>
    taken.flatMap((names) => keys.map((key) => textAt(names, key)));
  const resources = [...used(resourceNames), ...taken.flatMap((names) => textsAt(names, "shortNames"))];
  const kinds = used(kindNames);
  const conflictOf = (key: string): readonly string[] => {
    const name = textAt(wanted, key) ?? "";
    const others = kindNames.includes(key) ? kinds : resources;
    return name !== textAt(had, key) && others.includes(name) ? [name] : [];
  };
  const own = [...textsAt(had, "shortNames"), ...resourceNames.map((key) => textAt(had, key))];
  const conflicts: readonly (readonly [string, readonly string[]])[] = [
    ...resourceNames.map((key) => [key, conflictOf(key)] as const),
    [
      "shortNames",
      textsAt(wanted, "shortNames").filter((one) => !own.includes(one) && resources.includes(one)),
    ],
    ...kindNames.map((key) => [key, conflictOf(key)] as const),
  ];
  const free = conflicts.filter(([, names]) => names.length === 0);
  const names = free.reduce((all, [key]) => withField(all, key, field(wanted, key)), had);
  const last = conflicts.findLast(([, lost]) => lost.length > 0);
  const accepted = withField(names, "categories", field(wanted, "categories"));
  if (last === undefined) return { names: accepted };
  const [key, lost] = last;
  const stated = lost.map((one) => `${JSON.stringify(one)} is already in use`);
  const message = stated.length > 1 ? `[${stated.join(", ")}]` : stated.join();
  return { names: accepted, conflict: [reasons[key] ?? "", message] };
}

const waiting = ["Established", "False", "NotAccepted", "not all names are accepted"] as const;
const established = [
  ...["Established", "True", "InitialNamesAccepted"],
  "the initial names have been accepted",
] as const;

/** Accepts the names that are free, and serves the definition once all of its names have been accepted. */
function accept(cluster: Cluster, definition: KubeObject): void {
  const isEstablished = conditionOf(definition, "Established") === "True";
  const [wanted, had] = [
    objectAt(definition, "spec", "names"),
    objectAt(definition, "status", "acceptedNames"),
  ];
  if (equal(wanted, had) && isEstablished) return;
  const { names, conflict } = namesFor(cluster, definition);
  const [reason, message] = conflict ?? ["NoConflicts", "no conflicts found"];
  const stated = ["NamesAccepted", conflict ? "False" : "True", reason, message] as const;
  const served = conflict ? (conditionOf(definition, "Established") ? undefined : waiting) : established;
  const named = withTop(definition, "status", { ...objectAt(definition, "status"), acceptedNames: names });
  const next = withSaid(cluster, named, stated);
  write(cluster, definition, served && !isEstablished ? withSaid(cluster, next, served) : next);
}

const withSaid = (
  cluster: Cluster,
  definition: KubeObject,
  [type = "", status = "", reason = "", message = ""]: readonly string[],
): KubeObject => withCondition(definition, { type, status, reason, message }, timestamp(cluster.now()));

const ending = [
  "Terminating",
  "True",
  "InstanceDeletionInProgress",
  "CustomResource deletion is in progress",
];
const ended = ["Terminating", "False", "InstanceDeletionCompleted", "removed all instances"];
const neverServed = ["Terminating", "False", "NeverEstablished", "resource was never established"];

/** Deletes the objects of a deleted definition, and removes the definition with the last of them. */
function finish(cluster: Cluster, definition: KubeObject): void {
  const left = finalizersOf(definition).filter((one) => one !== cleanupFinalizer);
  if (left.length === finalizersOf(definition).length) return;
  const isServed = conditionOf(definition, "Established") === "True";
  const objects = isServed ? cluster.store.list(nameOf(definition)).objects : [];
  if (objects.length > 0) {
    write(cluster, definition, withSaid(cluster, definition, ending));
    for (const one of objects)
      for (const served of typesOf(definition).slice(0, 1))
        if (!beingDeleted(one)) deleteObject(cluster, served, one);
    return;
  }
  if (left.length === 0) cluster.store.remove(definitionsBucket, "", nameOf(definition));
  else {
    const next = withMeta(definition, "finalizers", left);
    write(cluster, definition, withSaid(cluster, next, isServed ? ended : neverServed));
  }
}
