import type { ReconcileFunctionSpec } from "./reconcile-function.ts";

/** Why a function with `delivery: webhook` cannot be called, and what to do about it; undefined if it can. */
export function webhookProblem({
  for: { group, plural },
  owns = [],
  watches = [],
  webhook,
}: ReconcileFunctionSpec): string | undefined {
  if (group === "" && plural === "secrets") {
    return "spec.for: Secrets are never sent over HTTP. Use delivery: pull, with a permission for them.";
  }
  if (watches.some(({ names }) => names.code === true)) {
    return "spec.watches: only functions that pull can use names.code. Use another field of names, or delivery: pull.";
  }
  if (webhook?.composes === true && owns.length === 0) {
    return "spec.webhook.composes: list the kinds of the children in spec.owns.";
  }
  return undefined;
}
