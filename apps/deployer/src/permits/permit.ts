import { type ObjectMetadata, RetryAfterError, implicitAccess } from "@drover/controller";
import { requestAnnotation, type Author, authorAnnotations, authorOf, requestedUse } from "@drover/runtime";
import { isDeepStrictEqual } from "node:util";
import type { FunctionObject } from "../objects/function-object.ts";
import type { DeployRunContext } from "../run-context.ts";
import { permissionNotHeld } from "./access-reviews.ts";
import { grantedAccess } from "./granted-access.ts";
import { asRecorded } from "./permit-records.ts";

/**
 * Checks that the author of a function has all permissions that its objects grant. Every run reviews them, because
 * neither the function's status nor Redis is evidence. The result is recorded where only the deployer writes, for
 * bridge, gateway and later reviews (review-permits.ts).
 *
 * Functions in the deployer's own namespace are not reviewed: a user that writes there can act as the deployer.
 *
 * @param objects all that is about to be written for the function.
 * @throws RetryAfterError with the permission that the author lacks, or with the reason why the author is not known.
 */
export async function permit(
  runContext: DeployRunContext,
  objects: readonly FunctionObject[],
): Promise<void> {
  const { context, functionRef, permits } = runContext;
  if (permits === undefined) return;
  const { metadata, spec, signal } = context;
  const { records, reviews, namespace } = permits;
  const isReviewed = functionRef.namespace !== namespace;
  const author =
    authorOf(metadata) ?? (isReviewed ? rejectUnknownAuthor(metadata) : { user: "", groups: [] });
  const before = await records.get(functionRef.uid, signal);
  const asked = asRecorded({
    uid: functionRef.uid,
    function: `${functionRef.namespace}/${functionRef.name}`,
    author,
    accesses: [...grantedAccess(objects), ...implicitAccess(spec, functionRef.namespace)],
    ...requestedUse(metadata, spec),
  });
  const isSame = isDeepStrictEqual(before, asked);
  if (isReviewed) {
    if (!isSame) refuseUnlessAuthentic(metadata, await permits.guards.epoch(signal));
    const denied = await reviews.firstDenied(author, asked.accesses, signal);
    if (denied !== undefined) throw permissionNotHeld(author, denied);
  }
  if (!isSame) await records.store(asked, signal);
}

/** @throws RetryAfterError if the annotations were not written under the present admission policies. */
function refuseUnlessAuthentic(metadata: ObjectMetadata, epoch: string): void {
  if (metadata.annotations?.[authorAnnotations.epoch] === epoch) return;
  throw new RetryAfterError(
    "This spec was written while the admission policies that record its author were absent or different. " +
      askAgain(metadata),
    { after: "30s", reason: "AuthorUnknown" },
  );
}

function rejectUnknownAuthor(metadata: ObjectMetadata): Author {
  throw new RetryAfterError(
    "The author of this function is not known: it was written without the admission policies that record authors. " +
      `Install authors.yaml. ${askAgain(metadata)}`,
    { after: "30s", reason: "AuthorUnknown" },
  );
}

/** The user that runs the command becomes the author. */
const askAgain = ({ namespace, name }: ObjectMetadata): string =>
  "Let a user that has all that the function asks for run (before Kubernetes 1.36, see docs/deploying-functions.md, " +
  "Permissions of the author): " +
  `kubectl annotate -n ${namespace} --overwrite reconcilefunction ${name} ${requestAnnotation}=$(date +%s)`;
