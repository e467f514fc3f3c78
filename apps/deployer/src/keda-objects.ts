import { milliseconds, ReconcileFunction, RetryAfterError } from "@drover/controller";
import { builtin, type ResourceRef } from "@drover/kube";
import { boundRole, ruleFor } from "./bound-role.ts";
import type { FunctionContext, FunctionObject } from "./function-objects.ts";
import { type Home, ownedBy, type PartAccount } from "./home.ts";
import { scalingOf } from "./scaling-of.ts";

/** How KEDA reaches the deployer, and who it is. */
export interface KedaSettings {
  /** Where it asks for figures; undefined where nobody has said it. */
  readonly scalingUrl: string | undefined;
  /** The ServiceAccount of KEDA's operator. */
  readonly account: PartAccount;
}

const keda = { group: "keda.sh", version: "v1alpha1", namespaced: true } as const;
const scaledObject: ResourceRef = { ...keda, kind: "ScaledObject", plural: "scaledobjects" };
const triggerAuthentication: ResourceRef = {
  ...keda,
  kind: "TriggerAuthentication",
  plural: "triggerauthentications",
};

/**
 * What has KEDA scale a function: it asks the deployer for the number of Pods that Drover would have, and writes it through
 * the scale subresource.
 *
 * The deployer reviews every sender (`scaling-answer.ts`), so KEDA sends a token: of a ServiceAccount that exists for this
 * and may read the figure of this function alone. KEDA makes such tokens itself, for an hour each
 * (https://keda.sh/docs/2.17/authentication-providers/bound-service-account-token), and may do so for this account only.
 * One account for all functions would let whoever may write ScaledObjects send its token anywhere.
 *
 * @param wanted false where KEDA scaled the function before and does not any more.
 * @throws RetryAfterError when nobody has said where KEDA reaches the deployer.
 */
export function kedaObjects(
  home: Home,
  spec: FunctionContext["spec"],
  { scalingUrl, account }: KedaSettings,
  wanted: boolean,
): readonly FunctionObject[] {
  if (wanted && scalingUrl === undefined) {
    throw new RetryAfterError(
      "spec.scaling.by: KEDA needs to know where it reaches the deployer: set its DROVER_SCALING_URL.",
      { after: "1m", reason: "NotSupported" },
    );
  }
  const name = `${home.name}-scaling`;
  const owned = { name, ...ownedBy(home) };
  const tokens = { name: `${home.name}-scaling-token`, ...ownedBy(home) };
  const { group, plural } = ReconcileFunction;
  // Neither Role is the author's: one shows a figure that is in the function's status, the other makes tokens for it.
  const unreviewed = { wanted, reviewed: false } as const;
  return [
    { ref: builtin.serviceAccount, object: { metadata: owned, automountServiceAccountToken: false }, wanted },
    ...boundRole(owned, [ruleFor("get", `${plural}/scale`, home.name, group)], owned, unreviewed),
    ...boundRole(tokens, [ruleFor("create", "serviceaccounts/token", name)], account, unreviewed),
    {
      ref: triggerAuthentication,
      object: {
        metadata: owned,
        spec: { boundServiceAccountToken: [{ parameter: "token", serviceAccountName: name }] },
      },
      wanted,
    },
    {
      ref: scaledObject,
      object: {
        metadata: { name: home.name, ...ownedBy(home) },
        spec: scaledObjectSpec(home, spec, { scalingUrl: scalingUrl ?? "", authentication: name }),
      },
      wanted,
    },
  ];
}

/** KEDA divides the figure by its target, so a target of 1 makes the figure the number of Pods. */
function scaledObjectSpec(
  home: Home,
  spec: FunctionContext["spec"],
  { scalingUrl, authentication }: { readonly scalingUrl: string; readonly authentication: string },
) {
  const { min, max, idleAfter } = scalingOf(spec);
  return {
    scaleTargetRef: {
      apiVersion: ReconcileFunction.apiVersion,
      kind: ReconcileFunction.kind,
      name: home.name,
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
          authMode: "bearer",
        },
        authenticationRef: { name: authentication },
      },
    ],
  };
}
