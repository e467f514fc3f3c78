import type { ReconcileFunctionSpec } from "./reconcile-function.ts";

/** Why a function with `delivery: webhook` cannot be called, and what to do about it; undefined if it can. */
export function whyNotCalled({
  for: { group, plural },
  watches = [],
}: ReconcileFunctionSpec): string | undefined {
  if (group === "" && plural === "secrets") {
    return "spec.for: Secrets are not sent to anybody. Have it pull, with a permission of its own.";
  }
  if (watches.some(({ names }) => names.code === true)) {
    return "spec.watches: code is asked of functions that pull only. Declare whom an object concerns.";
  }
  return undefined;
}
