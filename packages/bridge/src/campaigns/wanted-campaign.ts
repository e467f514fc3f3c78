import type { Campaign, ReconcileFunctionSpec, ReconcileFunctionStatus } from "@drover/controller";

/**
 * The campaign that a function wants: the one that its spec names, and one for each version that was rolled out, if the
 * spec asks for that. Both together are one campaign under a combined name: if either part changes, all objects are
 * reconciled once more.
 */
export function wantedCampaign(
  { campaign, onRollout }: ReconcileFunctionSpec,
  { rollout }: ReconcileFunctionStatus,
): Campaign | undefined {
  const { complete = 0 } = rollout ?? {};
  // The first version reconciles all existing objects anyway.
  const version = onRollout === "campaign" && complete > 1 ? `rollout-${complete}` : undefined;
  const name = [campaign?.name, version].filter((part) => part !== undefined).join(".");
  return name === "" ? undefined : { ...campaign, name };
}

/**
 * The campaign that retries failed and parked objects once a new version has taken over. Undefined if `onRollout` asks for all
 * objects, or for none.
 */
export function wantedRetries(
  { campaign, onRollout = "retry" }: ReconcileFunctionSpec,
  { rollout }: ReconcileFunctionStatus,
): Campaign | undefined {
  const { complete = 0 } = rollout ?? {};
  if (onRollout !== "retry" || complete <= 1) return undefined;
  return {
    name: `rollout-${complete}`,
    ...(campaign?.perSecond !== undefined && { perSecond: campaign.perSecond }),
  };
}
