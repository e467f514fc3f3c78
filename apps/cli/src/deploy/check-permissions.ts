import { type Access, describeAccess, neededAccess, resourceAttributesOf } from "@drover/controller";
import { builtin, isApiError, type KubeClient } from "@drover/kube";
import { type CurrentUser, deniedAccesses } from "@drover/runtime";
import { z } from "zod";
import { CommandError } from "../command-error.ts";
import type { FunctionManifest } from "./read-manifests.ts";

const answerSchema = z.looseObject({ allowed: z.boolean() });

/**
 * The user that deploys a function must hold all permissions that the function asks for; otherwise the deployer refuses
 * it later.
 * @throws CommandError listing all missing permissions.
 */
export async function checkPermissions(
  client: KubeClient,
  { metadata, spec }: FunctionManifest,
  { namespace, asker }: { readonly namespace: string; readonly asker: CurrentUser },
): Promise<void> {
  const missing = await missingAccess(client, neededAccess(spec, namespace));
  if (missing.length === 0) return;
  throw new CommandError(
    `${metadata.name} asks for permissions that you, ${asker.username}, do not have:\n` +
      missing.map((access) => `  - ${describeAccess(access)}\n`).join("") +
      "Get these permissions, let a user with them deploy it, or let the function ask for less.",
  );
}

/** The accesses in `needed` that the current user does not have. */
export const missingAccess = (client: KubeClient, needed: readonly Access[]): Promise<readonly Access[]> =>
  Array.fromAsync(deniedAccesses(needed, (access) => isAllowed(client, access)));

async function isAllowed(client: KubeClient, access: Access): Promise<boolean> {
  const resourceAttributes = resourceAttributesOf(access);
  const status = await reviewed(client, builtin.selfSubjectAccessReview, { resourceAttributes });
  return status === undefined || answerSchema.parse(status).allowed;
}

/** The review's status; undefined if the server does not serve such reviews. */
async function reviewed(client: KubeClient, ...question: Parameters<KubeClient["review"]>): Promise<unknown> {
  try {
    return await client.review(...question);
  } catch (error) {
    if (isApiError(error, "NotServed")) return undefined;
    throw error;
  }
}
