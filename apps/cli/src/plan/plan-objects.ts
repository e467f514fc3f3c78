import type { PlannedObject } from "./planned-objects.ts";
import { type ObjectPlan, planObject, type PlanOptions } from "./plan-object.ts";

/** Plans at once. Each may send some requests at once, too. */
const concurrency = 8;

/**
 * Plans objects, several at once, and yields the plans in the order of the objects.
 *
 * @param signal ends it. Plans that it has broken off are not yielded.
 */
export async function* planObjects(
  cluster: Pick<PlanOptions, "controller" | "called" | "client">,
  objects: readonly PlannedObject[],
  signal?: AbortSignal,
): AsyncGenerator<ObjectPlan> {
  const pending: Promise<ObjectPlan>[] = [];
  for (const object of objects) {
    const plan = planObject({ ...cluster, ...object });
    plan.catch(() => undefined); // It is awaited below, in its turn.
    pending.push(plan);
    if (pending.length < concurrency) continue;
    const first = pending.shift();
    if (first !== undefined) yield await unlessAborted(first, signal);
  }
  for (const plan of pending) yield await unlessAborted(plan, signal);
}

async function unlessAborted<T>(plan: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const done = await plan;
  signal?.throwIfAborted();
  return done;
}
