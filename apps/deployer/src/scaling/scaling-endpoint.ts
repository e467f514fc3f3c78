import { tryParseObjectKey, type ObjectName, ReconcileFunction, splitObjectKey } from "@drover/controller";
import type { JsonEndpoint, ReadAttributes } from "@drover/runtime";
import type { Scaler } from "./scaler.ts";

/**
 * `/scaling/<namespace>/<name>`: the number of Pods that a function should have. Every account that may `get` the
 * function's scale subresource may read it, because an autoscaler needs that permission anyway.
 */
export const scalingEndpoint = ({ figures }: Pick<Scaler, "figures">): JsonEndpoint => ({
  accessFor(rest) {
    const key = tryParseObjectKey(rest);
    return key && scaleOf(splitObjectKey(key));
  },
  async respond(rest) {
    const key = tryParseObjectKey(rest);
    return key && figures(key);
  },
});

const scaleOf = ({ namespace, name }: ObjectName): ReadAttributes | undefined =>
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
