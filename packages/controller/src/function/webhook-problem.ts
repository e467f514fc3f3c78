import type { ReconcileFunctionSpec } from "./reconcile-function.ts";

const isSecretKind = ({ group, plural }: Pick<ReconcileFunctionSpec["for"], "group" | "plural">): boolean =>
  group === "" && plural === "secrets";

/** Why a function with `delivery: webhook` cannot be called, and what to do about it; undefined if it can. */
export function webhookProblem({
  for: { group, plural },
  owns = [],
  watches = [],
  webhook,
}: ReconcileFunctionSpec): string | undefined {
  if (isSecretKind({ group, plural })) {
    return "spec.for: Secrets are never sent over HTTP. Use delivery: pull, with a permission for them.";
  }
  if (watches.some(({ names }) => names.code === true)) {
    return "spec.watches: only functions that pull can use names.code. Use another field of names, or delivery: pull.";
  }
  if (webhook?.composes === true && owns.length === 0) {
    return "spec.webhook.composes: list the kinds of the children in spec.owns.";
  }
  const related = watches.filter((watched) => watched.related === true);
  if (related.length > 0 && webhook?.composes !== true) {
    return "spec.watches: only functions that declare children get related objects. Set spec.webhook.composes, or leave out related.";
  }
  if (related.some(isSecretKind) && webhook?.url?.startsWith("http:") === true) {
    return "spec.webhook.url: Secrets are not sent over http. Give an https URL, or leave out related for Secrets.";
  }
  return undefined;
}
