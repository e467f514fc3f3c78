import { type Access, accessWords, resourceAttributesOf, RetryAfterError } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { type Author, deniedOf } from "@drover/runtime";
import { z } from "zod";

const answerSchema = z.looseObject({ allowed: z.boolean(), evaluationError: z.string().optional() });

/** Asks the API server what a user may do. */
export interface AccessReviews {
  /**
   * The first of what is needed that the author may not do; undefined when the author may do all of it.
   * @throws UnansweredReviewError when the API server could not tell: that is neither yes nor no.
   */
  firstDenied(author: Author, needed: readonly Access[], signal: AbortSignal): Promise<Access | undefined>;
}

/** A review that failed, or that an authorizer could not answer. */
export class UnansweredReviewError extends Error {
  override readonly name = "UnansweredReviewError";
}

/**
 * Reviews whose `yes` is remembered in this process alone, for a while: nobody else can write there. A `no` is asked again.
 *
 * @param remembered milliseconds; 0 asks every time.
 */
export function accessReviews(
  client: KubeClient,
  { remembered, now }: { readonly remembered: number; readonly now: () => number },
): AccessReviews {
  const allowedUntil = new Map<string, number>();
  const forgetOld = (at: number): void => {
    for (const [question, until] of allowedUntil) {
      if (until > at) return;
      allowedUntil.delete(question);
    }
  };
  const isAllowed = async (
    { user, groups }: Author,
    access: Access,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const question = JSON.stringify([user, groups, access]);
    const at = now();
    forgetOld(at);
    if (allowedUntil.has(question)) return true;
    const spec = { user, groups, resourceAttributes: resourceAttributesOf(access) };
    const { allowed, evaluationError = "" } = answerSchema.parse(
      await client.review(builtin.subjectAccessReview, spec, { signal }),
    );
    if (!allowed && evaluationError !== "") {
      throw new UnansweredReviewError(
        `The API server could not review whether ${user} may ${accessWords(access)}: ${evaluationError}`,
      );
    }
    if (allowed && remembered > 0) {
      allowedUntil.delete(question);
      allowedUntil.set(question, at + remembered);
    }
    return allowed;
  };
  return {
    async firstDenied(author, needed, signal) {
      for await (const denied of deniedOf(needed, (access) => isAllowed(author, access, signal)))
        return denied;
      return undefined;
    },
  };
}

/** Why a function is refused, and what to do about it. */
export const notHeld = ({ user }: Author, denied: Access): RetryAfterError =>
  new RetryAfterError(
    `${user} asks for this function and may not ${accessWords(denied)}. ` +
      "Let the function ask for less, have this granted, or have an author apply it who holds it.",
    { after: "30s", reason: "PermissionNotHeld" },
  );
