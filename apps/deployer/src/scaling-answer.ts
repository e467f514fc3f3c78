import { objectKeyIn, type ObjectName, ReconcileFunction, splitObjectKey } from "@drover/controller";
import type { Answer, ReadOf } from "@drover/runtime";
import type { Scaler } from "./scaler.ts";

/**
 * `/scaling/<namespace>/<name>`: the number of Pods that a function should have. Every account that may `get` the
 * function's scale subresource may read it, because an autoscaler needs that permission anyway.
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
