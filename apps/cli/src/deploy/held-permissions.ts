import { type Access, accessWords, neededAccess, resourceAttributesOf } from "@drover/controller";
import { builtin, isApiError, type KubeClient } from "@drover/kube";
import { deniedOf } from "@drover/runtime";
import { z } from "zod";
import { CommandError } from "../command-error.ts";
import type { FunctionManifest } from "./read-manifests.ts";

/** Who asks, as the API server knows them. */
export interface Asker {
  readonly username: string;
  readonly groups: readonly string[];
}

const askerSchema = z.looseObject({
  userInfo: z.looseObject({ username: z.string(), groups: z.array(z.string()).default([]) }),
});

/** Who we are; undefined where the API server does not say. */
export async function askerOf(client: KubeClient): Promise<Asker | undefined> {
  const status = await reviewed(client, builtin.selfSubjectReview, {});
  return status === undefined ? undefined : askerSchema.parse(status).userInfo;
}

const answerSchema = z.looseObject({ allowed: z.boolean() });

/**
 * Whoever deploys a function must be allowed all that it may do, or its controller refuses it later.
 * @throws CommandError with all that is missing.
 */
export async function refuseUnlessHeld(
  client: KubeClient,
  { metadata, spec }: FunctionManifest,
  { namespace, asker }: { readonly namespace: string; readonly asker: Asker },
): Promise<void> {
  const needed = neededAccess(spec, namespace);
  const missing = await Array.fromAsync(deniedOf(needed, (access) => isAllowed(client, access)));
  if (missing.length === 0) return;
  throw new CommandError(
    `${metadata.name} asks for what you, ${asker.username}, may not do:\n` +
      missing.map((access) => `  - ${accessWords(access)}\n`).join("") +
      "Have it granted to you, have somebody deploy it who may, or let the function ask for less.",
  );
}

async function isAllowed(client: KubeClient, access: Access): Promise<boolean> {
  const resourceAttributes = resourceAttributesOf(access);
  const status = await reviewed(client, builtin.selfSubjectAccessReview, { resourceAttributes });
  return status === undefined || answerSchema.parse(status).allowed;
}

/** The answer; undefined from a server that has no such reviews. */
async function reviewed(client: KubeClient, ...question: Parameters<KubeClient["review"]>): Promise<unknown> {
  try {
    return await client.review(...question);
  } catch (error) {
    if (isApiError(error, "NotServed")) return undefined;
    throw error;
  }
}
