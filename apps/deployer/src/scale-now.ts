import { type Milliseconds, milliseconds } from "@drover/controller";
import type { FunctionContext } from "./function-objects.ts";
import type { FunctionLoad } from "./function-queues.ts";
import { podsWanted } from "./pods-wanted.ts";
import { idleLeft, rescale } from "./rescale.ts";
import { scalingOf } from "./scaling-of.ts";

/**
 * How many Pods a function is to have from now on: as its queues say, or as an autoscaler has written.
 * @returns what its status keeps of that; and how long it is until there may be fewer.
 */
export function scaleNow(
  { spec, status }: Pick<FunctionContext, "spec" | "status">,
  load: FunctionLoad,
  { pods, now }: { readonly pods: number; readonly now: Date },
): { readonly scaling: NonNullable<FunctionContext["status"]["scaling"]>; readonly left: Milliseconds } {
  const { idleAfter: span, concurrency, min, max, targetDue, by, replicas = min } = scalingOf(spec);
  if (by === "KEDA") return { scaling: { wanted: replicas, by }, left: Infinity };
  const idleAfter = milliseconds(span);
  const wanted = podsWanted(load, { min, max, targetDue }, { concurrency, pods });
  const scaling = rescale(status.scaling, wanted, { idleAfter, now });
  return { scaling, left: idleLeft(scaling, { idleAfter, now }) };
}
