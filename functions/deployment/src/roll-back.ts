import { ownOf, revisionOf, rollbackAnnotation, sharedOf } from "./annotations.ts";
import type { Draft } from "./draft.ts";
import { isSameTemplate, withoutHash } from "./template.ts";

/** The revision that somebody asks to go back to by the annotation of the API's first versions; 0 is the one before. */
export function askedRollback({ annotations }: Draft): number | undefined {
  const text = annotations[rollbackAnnotation] ?? "";
  return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}

/** Takes the template, and the annotations that go with it, from the set of a revision. The request is done with either way. */
export function rollBack(draft: Draft, asked: number): void {
  const { deployment, sets } = draft;
  const { [rollbackAnnotation]: _, ...annotations } = draft.annotations;
  draft.annotations = annotations;
  const revision = asked === 0 ? revisionBefore(draft) : asked;
  const say = (type: "Normal" | "Warning", reason: string, note: string): void =>
    void draft.said.push({ type, reason, note, action: "Rollback" });
  const notFound = "DeploymentRollbackRevisionNotFound";
  if (revision === 0) {
    say("Warning", notFound, "Unable to find last revision.");
    return;
  }
  const target = sets.find((one) => revisionOf(one.annotations) === revision);
  if (target === undefined) {
    say("Warning", notFound, "Unable to find the revision to rollback to.");
    return;
  }
  const { name } = deployment.metadata;
  const { template } = target.set.spec;
  if (isSameTemplate(template, deployment.spec.template)) {
    const note = `The rollback revision contains the same template as current deployment "${name}"`;
    say("Warning", "DeploymentRollbackTemplateUnchanged", note);
    return;
  }
  draft.template = withoutHash(template);
  draft.annotations = { ...ownOf(draft.annotations), ...sharedOf(target.annotations) };
  say("Normal", "DeploymentRollback", `Rolled back deployment "${name}" to revision ${revision}`);
}

const revisionBefore = ({ sets }: Draft): number => {
  const revisions = sets.map(({ annotations }) => revisionOf(annotations) ?? 0).sort((a, b) => b - a);
  return revisions[1] ?? 0;
};
