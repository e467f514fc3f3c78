import { neededAccess } from "@drover/controller";
import { askedOf, type Permitted } from "@drover/runtime";
import { refuseUnlessHeld } from "./author.ts";
import { refuseUnlessGuarded } from "./author-policy.ts";
import type { Step } from "./step.ts";

/**
 * Whoever asks for a function must be allowed what it may do. Asked once for what is asked for, as Kubernetes itself does
 * it: who loses a permission later leaves behind what they made.
 *
 * @returns fingerprints of what was permitted; nothing where everybody is trusted.
 * @throws RetryAfterError naming who lacks what.
 */
export async function permit({ context, home, client, authors }: Step): Promise<Permitted | undefined> {
  if (authors === "trusted") return undefined;
  const { metadata, spec, status, signal } = context;
  const permitted = askedOf(metadata, spec);
  if (permitted.asked === status.permitted?.asked) return permitted;
  await refuseUnlessGuarded(client, signal);
  await refuseUnlessHeld(client, { metadata, needed: neededAccess(spec, home.namespace) }, signal);
  return permitted;
}
