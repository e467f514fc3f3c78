import { objectKeyIn, type ObjectName, ReconcileFunction, splitObjectKey } from "@drover/controller";
import type { Answer, ReadOf } from "@drover/runtime";
import type { Scaler } from "./scaler.ts";

/**
 * `/scaling/<namespace>/<name>`: how many Pods a function should have. Whoever may get the function's scale subresource
 * may read it, for that is what an autoscaler has to get and write anyway.
 */
export const scalingAnswer = ({ figure }: Pick<Scaler, "figure">): Answer => ({
  reads(rest) {
    const key = objectKeyIn(rest);
    return key && scaleOf(splitObjectKey(key));
  },
  async answer(rest) {
    const key = objectKeyIn(rest);
    return key && figure(key);
  },
});

const scaleOf = ({ namespace, name }: ObjectName): ReadOf | undefined =>
  namespace === undefined
    ? undefined
    : {
        resourceAttributes: {
          group: ReconcileFunction.group,
          resource: ReconcileFunction.plural,
          subresource: "scale",
          namespace,
          name,
          verb: "get",
        },
      };
