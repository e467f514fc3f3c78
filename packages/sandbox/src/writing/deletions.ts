// Deletion: its options, the reasons that hold an object, and the result.
import { graceOf, hastened, isHeld, markedDeleted } from "../admission/admission.ts";
import { definitionsBucket, namespacesBucket } from "../storage/cluster.ts";
import type { Cluster } from "../storage/cluster.ts";
import { notRegistered } from "./decoding.ts";
import { withDeletionPolicy } from "./deletion-policy.ts";
import type { Propagation } from "./deletion-policy.ts";
import { field, isString, objectAt, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { beingDeleted, nameOf, namespaceOf, uidOf, versionOf, withMeta } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { asServed } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import * as status from "../http/status.ts";
import { existing } from "./writes.ts";
import type { Target } from "./writes.ts";

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** The grace period in seconds, for kinds that have one. */
  readonly grace: number | undefined;
  /** The treatment of dependents; if undefined, the finalizers of the object decide. */
  readonly propagation: Propagation | undefined;
}

function refusePreconditions(
  { type, name }: Target,
  object: KubeObject,
  { uid, resourceVersion }: DeleteOptions,
): void {
  const check = (what: string, wanted: string | undefined, found: string, then: string): void => {
    if (wanted === undefined || wanted === found) return;
    if ([namespacesBucket, definitionsBucket].includes(type.bucket)) {
      const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
      throw status.conflict(type, name, why);
    }
    const why = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found})`;
    throw status.conflict(type, name, `${why}. The object might have been ${then}`, type.kind);
  };
  check("UID", uid, uidOf(object), "deleted and then recreated");
  check("ResourceVersion", resourceVersion, versionOf(object), "modified");
}

const immortal = ["default", "kube-system", "kube-public"];

/**
 * DELETE. Removes the object, or marks it while finalizers hold it.
 * Returns the object if it stays or if its kind is answered so, else a success Status. Throws 403, 404 or 409.
 */
export function remove(cluster: Cluster, target: Target, options: DeleteOptions): JsonObject {
  const { type, name } = target;
  if (type.bucket === namespacesBucket && immortal.includes(name))
    throw status.forbiddenBy(type, name, "this namespace may not be deleted");
  const old = existing(cluster, target);
  refusePreconditions(target, old, options);
  // The first deletion of a definition ignores the policy.
  const isFirst = type.bucket === definitionsBucket && !beingDeleted(old);
  const propagation = isFirst ? undefined : options.propagation;
  const { object, held } = deleteObject(cluster, type, old, { ...options, propagation });
  return held || type.returnsDeleted ? asServed(type, object) : status.success(type, name, uidOf(old));
}

/**
 * Deletes an object. Returns its last state; `held` is true if something holds it. An object of a kind with a grace
 * period is marked before it is removed, even if the period is 0: watches receive both changes.
 */
export function deleteObject(
  { store, now }: Cluster,
  type: ResourceType,
  old: KubeObject,
  { dryRun = false, grace, propagation }: Partial<DeleteOptions> = {},
): { object: KubeObject; held: boolean } {
  const { gracePeriod, held: heldByKind } = type.behaviour;
  const again = beingDeleted(old);
  const graceful = gracePeriod !== undefined && (!again || (graceOf(old) ?? 0) > 0);
  const sooner = again && graceful ? hastened(old, grace) : old;
  // A policy changes nothing while something other than finalizers holds the object.
  if (again && ((graceful && sooner === old) || heldByKind?.(old) === true))
    return { object: old, held: true };
  const decided = withDeletionPolicy(sooner, propagation);
  const timed = graceOf(decided) === undefined ? withMeta(decided, "deletionGracePeriodSeconds", 0) : decided;
  const object = again ? timed : markedDeleted(type, decided, now(), gracePeriod?.(old, grace));
  // If the kind can hold objects, the first deletion only marks one, even if nothing holds it.
  const held = isHeld(type, object) || (!again && heldByKind !== undefined);
  if (dryRun) return { object: held || graceful ? object : old, held };
  const marked = (held || graceful) && object !== old ? store.put(type.bucket, object) : object;
  if (!held) store.remove(type.bucket, namespaceOf(old), nameOf(old));
  if (held) return { object: marked, held };
  const last = graceful ? marked : old;
  return {
    object: type.returnsDeleted ? withMeta(last, "resourceVersion", String(store.version)) : last,
    held,
  };
}

export function optionsOfDelete(
  body: Json,
  dryRun: boolean,
  propagation: Propagation | undefined,
): DeleteOptions {
  if (!isString(field(body, "kind") ?? ""))
    throw status.badRequest("couldn't get version/kind; json parse error: kind is not a text");
  const kind = textAt(body, "kind") || "DeleteOptions";
  const version = textAt(body, "apiVersion") || "meta.k8s.io/v1";
  if (kind !== "DeleteOptions") throw status.badRequest(notRegistered(kind, version));
  const wrong = Object.entries(objectAt(body, "preconditions")).find(([, value]) => !isString(value ?? ""));
  if (wrong) throw status.badRequest(`json: preconditions.${wrong[0]} is not a text`);
  const asked = (what: string): string | undefined => textAt(body, "preconditions", what);
  const [uid, resourceVersion] = [asked("uid"), asked("resourceVersion")];
  return { dryRun, uid, resourceVersion, grace: graceAsked(body), propagation };
}

function graceAsked(body: Json): number | undefined {
  const grace = field(body, "gracePeriodSeconds");
  if (grace === undefined || grace === null) return undefined;
  if (typeof grace !== "number" || !Number.isInteger(grace))
    throw status.badRequest("json: cannot unmarshal gracePeriodSeconds: it is not a whole number");
  return grace;
}
