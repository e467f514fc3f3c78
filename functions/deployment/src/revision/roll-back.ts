import { ownOf, revisionIn, revisionOf, rollbackAnnotation, sharedOf } from "../annotations.ts";
import type { Draft } from "../draft.ts";
import { isSameTemplate, withoutHash } from "../template.ts";

/**
 * The revision that a user asks to roll back to, by the annotation of the API's first versions. 0 is the one before.
 */
export const requestedRollback = ({ annotations }: Draft): bigint | undefined =>
  revisionIn(annotations[rollbackAnnotation] ?? "");

/**
 * Takes the template and its annotations from the set of a revision. The request is removed, also if that is not
 * possible.
 */
export function rollBack(draft: Draft, asked: bigint): void {
  const { deployment, sets } = draft;
  const { [rollbackAnnotation]: _, ...annotations } = draft.annotations;
  draft.annotations = annotations;
  const revision = asked === 0n ? revisionBefore(draft) : asked;
  const announce = (type: "Normal" | "Warning", reason: string, note: string): void =>
    void draft.announcements.push({ type, reason, note, action: "Rollback" });
  const notFound = "DeploymentRollbackRevisionNotFound";
  if (revision === 0n) {
    announce("Warning", notFound, "Unable to find last revision.");
    return;
  }
  const target = sets.find((one) => revisionOf(one.annotations) === revision);
  if (target === undefined) {
    announce("Warning", notFound, "Unable to find the revision to rollback to.");
    return;
  }
  const { name } = deployment.metadata;
  const { template } = target.set.spec;
  if (isSameTemplate(template, deployment.spec.template)) {
    const note = `The rollback revision contains the same template as current deployment "${name}"`;
    announce("Warning", "DeploymentRollbackTemplateUnchanged", note);
    return;
  }
  draft.template = withoutHash(template);
  draft.annotations = { ...ownOf(draft.annotations), ...sharedOf(target.annotations) };
  announce("Normal", "DeploymentRollback", `Rolled back deployment "${name}" to revision ${revision}`);
}

/** The second highest revision. 0 if it does not exist. */
function revisionBefore({ sets }: Draft): bigint {
  let [highest, second] = [0n, 0n];
  for (const { annotations } of sets) {
    const revision = revisionOf(annotations) ?? 0n;
    if (revision >= highest) [highest, second] = [revision, highest];
    else if (revision > second) second = revision;
  }
  return second;
}
