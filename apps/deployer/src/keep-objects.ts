import { RetryAfterError } from "@drover/controller";
import { ApiError, keyOf } from "@drover/kube";
import { bridgeRoleOf } from "./bridge-roles.ts";
import type { FunctionObject } from "./function-objects.ts";
import { calledRoleOf } from "./gateway-roles.ts";
import { dropObject, keepObject } from "./keep-object.ts";
import { dropStaleRoles } from "./stale-roles.ts";
import type { Step } from "./step.ts";
import { isDeployed } from "./take-down.ts";

type Keeping = Pick<Step, "context" | "home" | "client" | "swept">;

/**
 * Writes the objects that a function needs, except Pods and Secrets, and deletes those that it no longer needs.
 *
 * @returns true if an object could not be written in a namespace that the function names.
 */
export async function keepObjects(step: Keeping, objects: readonly FunctionObject[]): Promise<boolean> {
  const { context, home, client, swept } = step;
  const { signal, status, metadata } = context;
  let incomplete = false;
  const keeper = { client, signal, owner: home };
  // A function that was never deployed has no objects to delete.
  const wasDeployed = isDeployed(status);
  for (const { ref, object, wanted, elsewhere } of objects) {
    if (elsewhere === true) incomplete = !(await keepElsewhere(step, ref, object)) || incomplete;
    else if (wanted) await keepObject(keeper, ref, object);
    else if (wasDeployed) await dropObject(keeper, ref, object);
  }
  const { generation = 0 } = metadata;
  if (swept.get(home.uid) !== generation) {
    await dropStaleRoles(step, [bridgeRoleOf(home), calledRoleOf(home)], objects);
    swept.set(home.uid, generation);
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
async function keepElsewhere(
  { context: { signal, log }, home, client }: Keeping,
  ref: FunctionObject["ref"],
  object: FunctionObject["object"],
): Promise<boolean> {
  try {
    await keepObject({ client, signal, owner: home }, ref, object);
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
