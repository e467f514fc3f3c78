import { milliseconds, ReconcileFunction, TerminalError } from "@drover/controller";
import type { ResourceRef } from "@drover/kube";
import type { FunctionContext, FunctionObject } from "./function-objects.ts";
import { type Home, ownedBy } from "./home.ts";
import { scalingOf } from "./scaling-of.ts";

export const scaledObject: ResourceRef = {
  ...{
    group: "keda.sh",
    version: "v1alpha1",
    kind: "ScaledObject",
    plural: "scaledobjects",
    namespaced: true,
  },
};

export const scaledMetadata = (home: Home) => ({ name: home.name, ...ownedBy(home) });

/**
 * What has KEDA scale a function: it asks us for the number of Pods that we would have, and writes it through the scale
 * subresource. KEDA divides the figure by its target, so a target of 1 makes the figure the number.
 *
 * @throws TerminalError when nobody has said where KEDA reaches us.
 */
export function scaledObjectOf(
  home: Home,
  spec: FunctionContext["spec"],
  scalingUrl: string | undefined,
): FunctionObject {
  const { min, max, idleAfter } = scalingOf(spec);
  if (scalingUrl === undefined) {
    throw new TerminalError(
      "spec.scaling.by: KEDA needs to know where it reaches the deployer: set its DROVER_SCALING_URL.",
      { reason: "NotSupported" },
    );
  }
  const object = {
    metadata: scaledMetadata(home),
    spec: {
      scaleTargetRef: {
        ...{ apiVersion: ReconcileFunction.apiVersion, kind: ReconcileFunction.kind, name: home.name },
      },
      minReplicaCount: min,
      maxReplicaCount: max,
      pollingInterval: 1,
      cooldownPeriod: Math.max(1, Math.ceil(milliseconds(idleAfter) / 1_000)),
      triggers: [
        {
          type: "metrics-api",
          metricType: "AverageValue",
          metadata: {
            url: `${scalingUrl}/scaling/${home.namespace}/${home.name}`,
            valueLocation: "wanted",
            targetValue: "1",
            activationTargetValue: "0",
          },
        },
      ],
    },
  };
  return { ref: scaledObject, object, wanted: true };
}
