import { parseDuration, ReconcileFunction, RetryAfterError } from "@drover/controller";
import { builtin, type ResourceRef } from "@drover/kube";
import { boundRole, ruleFor } from "../roles/bound-role.ts";
import type { FunctionContext, FunctionObject } from "./function-object.ts";
import { type FunctionRef, ownedMetadata } from "../function-ref.ts";
import { scalingSettings } from "../scaling/scaling-settings.ts";

/** How KEDA reaches the deployer. */
export interface KedaSettings {
  /** The URL at which KEDA requests numbers of Pods. Undefined if `DROVER_SCALING_URL` is not set. */
  readonly scalingUrl: string | undefined;
}

const keda = { group: "keda.sh", version: "v1alpha1", namespaced: true } as const;
const scaledObject: ResourceRef = { ...keda, kind: "ScaledObject", plural: "scaledobjects" };
const triggerAuthentication: ResourceRef = {
  ...keda,
  kind: "TriggerAuthentication",
  plural: "triggerauthentications",
};

/**
 * The objects with which KEDA scales a function. KEDA requests from the deployer the number of Pods that Drover would
 * run, and writes it through the scale subresource.
 *
 * The deployer authorizes every request (`scaling-endpoint.ts`), so KEDA sends the token of a ServiceAccount that exists
 * for this only, and may read only the number of this function. With one account for all functions, any user that may
 * write ScaledObjects could send its token anywhere.
 *
 * KEDA reads the token from a Secret, in which the API server keeps it. KEDA would also create such tokens, but since
 * 2.21 only for accounts that are listed, one by one, in the environment of its operator.
 *
 * @param wanted false if KEDA scaled the function before and does no longer.
 * @throws RetryAfterError if KEDA is wanted and `DROVER_SCALING_URL` is not set.
 */
export function kedaObjects(
  functionRef: FunctionRef,
  spec: FunctionContext["spec"],
  { scalingUrl }: KedaSettings,
  wanted: boolean,
): readonly FunctionObject[] {
  if (wanted && scalingUrl === undefined) {
    throw new RetryAfterError(
      "spec.scaling.by: KEDA asks the deployer how many Pods to run, and its address is not set. " +
        "Set DROVER_SCALING_URL in the deployer's environment, for example to http://deployer.drover:8080.",
      { after: "1m", reason: "NotSupported" },
    );
  }
  const name = `${functionRef.name}-scaling`;
  const owned = { name, ...ownedMetadata(functionRef) };
  const { group, plural } = ReconcileFunction;
  return [
    { ref: builtin.serviceAccount, object: { metadata: owned, automountServiceAccountToken: false }, wanted },
    // The Role gives the author nothing: it reads a number that the status has anyway.
    ...boundRole(owned, [ruleFor("get", `${plural}/scale`, functionRef.name, group)], owned, {
      wanted,
      reviewed: false,
    }),
    {
      ref: builtin.secret,
      object: {
        metadata: { ...owned, annotations: { "kubernetes.io/service-account.name": name } },
        type: "kubernetes.io/service-account-token",
      },
      wanted,
    },
    {
      ref: triggerAuthentication,
      object: { metadata: owned, spec: { secretTargetRef: [{ parameter: "token", name, key: "token" }] } },
      wanted,
    },
    {
      ref: scaledObject,
      object: {
        metadata: { name: functionRef.name, ...ownedMetadata(functionRef) },
        spec: scaledObjectSpec(functionRef, spec, { scalingUrl: scalingUrl ?? "", authentication: name }),
      },
      wanted,
    },
  ];
}

/** The longest that a HorizontalPodAutoscaler accepts, in seconds. */
const maxStabilization = 3_600;

/** KEDA divides the value by its target, so a target of 1 makes the value the number of Pods. */
function scaledObjectSpec(
  functionRef: FunctionRef,
  spec: FunctionContext["spec"],
  { scalingUrl, authentication }: { readonly scalingUrl: string; readonly authentication: string },
) {
  const { min, max, idleAfter } = scalingSettings(spec);
  const idleSeconds = Math.max(1, Math.ceil(parseDuration(idleAfter) / 1_000));
  return {
    scaleTargetRef: {
      apiVersion: ReconcileFunction.apiVersion,
      kind: ReconcileFunction.kind,
      name: functionRef.name,
    },
    minReplicaCount: min,
    maxReplicaCount: max,
    pollingInterval: 1,
    cooldownPeriod: idleSeconds,
    advanced: {
      horizontalPodAutoscalerConfig: {
        // KEDA's cooldown is for the step to zero. For fewer Pods, the autoscaler would wait for five minutes.
        behavior: { scaleDown: { stabilizationWindowSeconds: Math.min(idleSeconds, maxStabilization) } },
      },
    },
    triggers: [
      {
        type: "metrics-api",
        metricType: "AverageValue",
        metadata: {
          url: `${scalingUrl}/scaling/${functionRef.namespace}/${functionRef.name}`,
          valueLocation: "wanted",
          targetValue: "1",
          activationTargetValue: "0",
          authMode: "bearer",
        },
        authenticationRef: { name: authentication },
      },
    ],
  };
}
