import { readWebhookFunction, readyPodsOf, type WebhookFunction } from "@drover/calls";
import type { DeclaredFunction, Permits } from "@drover/runtime";

/** The functions to call, and for each one that cannot be called a problem with its remedy, by key. */
export interface WebhookFunctions {
  readonly functions: readonly WebhookFunction[];
  readonly problems: ReadonlyMap<string, string>;
}

/**
 * Selects, from all declared functions, those that are called over HTTP and are available now.
 * @param permits undefined if every author is trusted.
 */
export function selectWebhookFunctions(
  declared: readonly DeclaredFunction[],
  permits: Pick<Permits, "allows"> | undefined,
): WebhookFunctions {
  const functions: WebhookFunction[] = [];
  const problems = new Map<string, string>();
  for (const each of declared) {
    if (each.spec?.delivery !== "webhook") continue;
    const read = readWebhookFunction(each.object, each.spec);
    if (!read.ok) problems.set(each.key, read.problem);
    else if (permits?.allows(each.object, each.spec, "called") === false)
      problems.set(each.key, notPermitted);
    else if (isAvailable(each)) functions.push(read.fn);
  }
  return { functions, problems };
}

const notPermitted = "The deployer has not permitted it as it is now. Its Ready condition has the reason.";

/**
 * True if the function is not paused and has a Pod that is ready. While it has none, its keys stay in the queue and count
 * as due, which makes the deployer scale it up. A function without `container` is run by its author, and is assumed to
 * be available.
 */
function isAvailable({ object, spec }: DeclaredFunction): boolean {
  if (spec?.paused === true) return false;
  return spec?.container === undefined || readyPodsOf(object) > 0;
}
