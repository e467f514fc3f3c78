import { controllerOfFinalizer, type ObjectKey, oneLine } from "@drover/controller";
import { type KubeClient, type KubeObject, resourceNameOf, establishedRefOf } from "@drover/kube";
import { CommandError } from "../command-error.ts";
import { findCrds } from "../find-crds.ts";
import { deployedFunctions, isForKind } from "../deployed-functions.ts";
import { queriedKey, type ObjectQuery } from "../find-object.ts";

/**
 * Explains why an object that no ReconcileFunction manages any more cannot be deleted, and how to resolve that.
 *
 * @returns undefined if no such object is found.
 */
export async function describeOrphan(client: KubeClient, query: ObjectQuery): Promise<string | undefined> {
  const crds = await findCrds(client, query.kind);
  const functions = await deployedFunctions(client, undefined).catch((error: unknown) => {
    // If Drover's kinds have been removed, no functions exist.
    if (error instanceof CommandError) return [];
    throw error;
  });
  for (const crd of crds) {
    const ref = establishedRefOf(crd);
    if (ref === undefined) continue;
    if (functions.some((fn) => isForKind(fn, ref) === true)) continue;
    const key = queriedKey(query, ref.namespaced ? "Namespaced" : "Cluster");
    const object = await client.get(ref, key);
    const held =
      object?.metadata.finalizers?.filter((name) => controllerOfFinalizer(name) !== undefined) ?? [];
    if (object !== undefined && held.length > 0)
      return orphanMessage(object, { kind: resourceNameOf(ref), key, held });
  }
  return undefined;
}

interface OrphanedObject {
  /** `plural.group`. */
  readonly kind: string;
  readonly key: ObjectKey;
  /** Its finalizers of Drover's functions. */
  readonly held: readonly string[];
}

function orphanMessage({ kind: name, metadata }: KubeObject, { kind, key, held }: OrphanedObject): string {
  const { deletionTimestamp, namespace, finalizers = [] } = metadata;
  const names = held.flatMap((finalizer) => controllerOfFinalizer(finalizer) ?? []);
  const functions = names.join(", ");
  const left = JSON.stringify({ metadata: { finalizers: finalizers.filter((one) => !held.includes(one)) } });
  const where = namespace === undefined ? "" : ` -n ${namespace}`;
  const state =
    deletionTimestamp === undefined
      ? `will stay when it is deleted, because it has the finalizer ${held.join(", ")}`
      : `has been terminating since ${deletionTimestamp}, and waits for its finalizer ${held.join(", ")} to be removed`;
  return [
    oneLine(`${name} ${key} ${state}: no ReconcileFunction manages ${kind}.`),
    "",
    oneLine(
      `  Deploy ${functions} again: it removes what it created outside the cluster, and then the finalizer. Or leave`,
    ),
    "  that in place, and remove the finalizer yourself:",
    oneLine(`  kubectl patch ${kind} ${metadata.name}${where} --type=merge -p '${left}'`),
    oneLine(`  To remove it from all ${kind}: drover remove ${names[0] ?? "NAME"} --release --kind ${kind}`),
    oneLine(
      `  (A function with a bridge in its own process has no ReconcileFunction: drover why ${kind} ${key} finds it.)`,
    ),
  ].join("\n");
}
