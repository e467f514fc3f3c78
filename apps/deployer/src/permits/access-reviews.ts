import { type Access, accessWords, type ObjectMetadata, RetryAfterError } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { authorOf, deniedOf } from "@drover/runtime";
import { z } from "zod";

const answerSchema = z.looseObject({ allowed: z.boolean() });

/**
 * @throws RetryAfterError naming who lacks what: it may be granted at any time.
 */
export async function refuseUnlessHeld(
  client: KubeClient,
  { metadata, needed }: { readonly metadata: ObjectMetadata; readonly needed: readonly Access[] },
  signal: AbortSignal,
): Promise<void> {
  const { user, groups } = authorOf(metadata);
  if (user === undefined) {
    throw refusal(
      "Nobody knows who asks for this function: it was written before the admission policies that say so. " +
        "Install them (authors.yaml), and change its spec.",
    );
  }
  const isAllowed = async (access: Access): Promise<boolean> => {
    const spec = { user, groups, resourceAttributes: access };
    return answerSchema.parse(await client.review(builtin.subjectAccessReview, spec, { signal })).allowed;
  };
  // The first in the spec, not the first that was answered: a status that says another thing each time is never at rest.
  for await (const denied of deniedOf(needed, isAllowed)) throw refusal(lacking(user, denied));
}

const lacking = (user: string, access: Access): string =>
  `${user} asks for this function, and may not ${accessWords(access)}. ` +
  "Ask for less, or have somebody change it who may.";

const refusal = (message: string): RetryAfterError =>
  new RetryAfterError(message, { after: "1m", reason: "PermissionNotHeld" });
