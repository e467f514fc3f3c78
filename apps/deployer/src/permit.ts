import { authorOf, neededOf, refuseUnlessHeld } from "./author.ts";
import { refuseUnlessGuarded } from "./author-policy.ts";
import { digest } from "./names.ts";
import type { Step } from "./step.ts";

/**
 * Whoever asks for a function must be allowed what it may do. Asked once for what is asked for, as Kubernetes itself does
 * it: who loses a permission later leaves behind what they made.
 *
 * @returns a fingerprint of what was permitted; nothing where everybody is trusted.
 * @throws RetryAfterError naming who lacks what.
 */
export async function permit({ context, home, client, authors }: Step): Promise<string | undefined> {
  if (authors === "trusted") return undefined;
  const { metadata, spec, status, signal } = context;
  const needed = neededOf(spec, home.namespace);
  const permitted = digest([authorOf(metadata), needed]);
  if (needed.length === 0 || permitted === status.permitted) return permitted;
  await refuseUnlessGuarded(client, signal);
  await refuseUnlessHeld(client, { metadata, needed }, signal);
  return permitted;
}
