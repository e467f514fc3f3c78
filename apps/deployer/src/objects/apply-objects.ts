import { RetryAfterError } from "@drover/controller";
import { ApiError, keyOf } from "@drover/kube";
import { bridgeRoleName } from "../roles/bridge-roles.ts";
import type { FunctionObject } from "./function-object.ts";
import { calledRoleName } from "../roles/gateway-roles.ts";
import { deleteOwnedObject, applyObject } from "./apply-object.ts";
import { deleteStaleRoles } from "../roles/stale-roles.ts";
import type { DeployRunContext } from "../run-context.ts";
import { isDeployed } from "../take-down.ts";

type ApplyContext = Pick<DeployRunContext, "context" | "functionRef" | "client" | "cleanedGenerations">;

/**
 * Writes the objects that a function needs, except Pods and Secrets, and deletes those that it no longer needs.
 *
 * @returns true if an object could not be written in a namespace that the function names.
 */
export async function applyObjects(
  runContext: ApplyContext,
  objects: readonly FunctionObject[],
): Promise<boolean> {
  const { context, functionRef, client, cleanedGenerations } = runContext;
  const { signal, status, metadata } = context;
  let incomplete = false;
  const options = { client, signal, owner: functionRef };
  // A function that was never deployed has no objects to delete.
  const wasDeployed = isDeployed(status);
  for (const { ref, object, wanted, elsewhere } of objects) {
    if (elsewhere === true) incomplete = !(await applyElsewhere(runContext, ref, object)) || incomplete;
    else if (wanted) await applyObject(options, ref, object);
    else if (wasDeployed) await deleteOwnedObject(options, ref, object);
  }
  const { generation = 0 } = metadata;
  if (cleanedGenerations.get(functionRef.uid) !== generation) {
    await deleteStaleRoles(runContext, [bridgeRoleName(functionRef), calledRoleName(functionRef)], objects);
    cleanedGenerations.set(functionRef.uid, generation);
  }
  return incomplete;
}

/**
 * Writes an object in a namespace that the spec names. This fails if the namespace does not exist, is being deleted, or
 * has another object of that name. Then the bridge cannot watch the function's objects there, and reports it in the
 * status.
 *
 * @returns false if it failed.
 */
async function applyElsewhere(
  { context: { signal, log }, functionRef, client }: ApplyContext,
  ref: FunctionObject["ref"],
  object: FunctionObject["object"],
): Promise<boolean> {
  try {
    await applyObject({ client, signal, owner: functionRef }, ref, object);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof RetryAfterError)) throw error;
    log.warn(
      { err: error, object: keyOf(object) },
      `Could not write a ${ref.kind} in a namespace that the spec names`,
    );
    return false;
  }
}
