import { type Milliseconds, parseDuration } from "@drover/controller";
import type { FunctionContext } from "../objects/function-object.ts";
import type { FunctionLoad } from "../redis/function-queues.ts";
import { minPods } from "../pods/next-rollout.ts";
import { podsWanted } from "./pods-wanted.ts";
import { idleLeft, rescale } from "./rescale.ts";
import { scalingSettings, setByKeda } from "./scaling-settings.ts";

/**
 * The number of Pods that a function should have from now on, computed from its queues or written by an autoscaler.
 * @returns `scaling`, for the status; and `left`, the time until there may be fewer. Infinity if fewer are not wanted.
 */
export function nextScaling(
  one: Pick<FunctionContext, "spec" | "status">,
  load: FunctionLoad,
  { pods, now }: { readonly pods: number; readonly now: Date },
): { readonly scaling: NonNullable<FunctionContext["status"]["scaling"]>; readonly left: Milliseconds } {
  const { idleAfter: span, concurrency, by, ...limits } = scalingSettings(one.spec);
  const least = minPods(one, load);
  const min = Math.max(least, limits.min);
  if (by === "KEDA") return { scaling: { wanted: Math.max(least, setByKeda(limits)), by }, left: Infinity };
  const idleAfter = parseDuration(span);
  const wanted = podsWanted(load, { ...limits, min }, { concurrency, pods });
  const scaling = rescale(one.status.scaling, wanted, { idleAfter, now });
  return { scaling, left: idleLeft(scaling, { idleAfter, now }) };
}
