import { type Access, describeAccess, resourceAttributesOf, RetryAfterError } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { type Author, deniedAccesses } from "@drover/runtime";
import { z } from "zod";

const answerSchema = z.looseObject({ allowed: z.boolean(), evaluationError: z.string().optional() });

/** Reviews with the API server what a user may do (SubjectAccessReview). */
export interface AccessReviews {
  /**
   * The first needed access that the author does not have. Undefined if the author has all of them.
   * @throws UnansweredReviewError if the API server could not decide: that is neither allowed nor denied.
   */
  firstDenied(author: Author, needed: readonly Access[], signal: AbortSignal): Promise<Access | undefined>;
}

/** A review that an authorizer could not answer. */
export class UnansweredReviewError extends Error {
  override readonly name = "UnansweredReviewError";
}

/**
 * Reviews that reuse a positive answer for a while. It is kept in this process only, where no other process can write.
 * A negative answer is not kept.
 *
 * @param remembered milliseconds; 0: nothing is reused.
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
        `The API server could not review whether ${user} may ${describeAccess(access)}: ${evaluationError}`,
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
      for await (const denied of deniedAccesses(needed, (access) => isAllowed(author, access, signal)))
        return denied;
      return undefined;
    },
  };
}

/** The error for a function that its author may not have. Its message contains what to do. */
export const permissionNotHeld = ({ user }: Author, denied: Access): RetryAfterError =>
  new RetryAfterError(
    `The author ${user} may not ${describeAccess(denied)}. ` +
      "Let the function ask for less, grant this to the author, or let a user that has it apply the function.",
    { after: "30s", reason: "PermissionNotHeld" },
  );
