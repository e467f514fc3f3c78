import { objectKey } from "@drover/controller";
import { builtin, isApiError, type KubeClient, refOf } from "@drover/kube";
import { z } from "zod";
import { authorAnnotations, AuthorEpoch, authorEpochName, formatGroups } from "./authors.ts";

/** The user of a client, as the API server identifies it. */
export interface CurrentUser {
  readonly username: string;
  readonly groups: readonly string[];
}

const reviewSchema = z.looseObject({
  userInfo: z.looseObject({ username: z.string(), groups: z.array(z.string()).default([]) }),
});

/** Returns the current user; undefined if the API server does not report it. */
export async function currentUser(client: KubeClient): Promise<CurrentUser | undefined> {
  try {
    return reviewSchema.parse(await client.review(builtin.selfSubjectReview, {})).userInfo;
  } catch (error) {
    if (isApiError(error, "NotServed")) return undefined;
    throw error;
  }
}

/**
 * The annotations that name this user as the author of a spec. API servers without mutating admission policies expect
 * them from the writer.
 */
export async function annotationsOfAuthor(
  client: KubeClient,
  user: CurrentUser | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (user === undefined) return {};
  return {
    [authorAnnotations.user]: user.username,
    [authorAnnotations.groups]: formatGroups(user.groups),
    ...(await epochNow(client)),
  };
}

/**
 * The annotation with the current author epoch. Empty if there is none or it may not be read: if the epoch is required,
 * the server's admission policy then rejects the write.
 */
async function epochNow(client: KubeClient): Promise<Readonly<Record<string, string>>> {
  const at = objectKey({ name: authorEpochName });
  const object = await client.get(refOf(AuthorEpoch), at).catch((error: unknown) => {
    if (isApiError(error, "Forbidden", "NotServed")) return undefined;
    throw error;
  });
  const epoch = AuthorEpoch.spec.safeParse(object?.["spec"]).data?.epoch;
  return epoch === undefined ? {} : { [authorAnnotations.epoch]: epoch };
}
