import {
  type Annotations,
  historyAnnotation,
  revisionAnnotation,
  revisionOf,
  sharedOf,
} from "./annotations.ts";
import { condition, conditionIn, setCondition } from "./deployment-conditions.ts";
import type { DeploymentCondition } from "./deployment.ts";
import type { Draft, DraftSet } from "./draft.ts";
import { newSetOf, oldSetsOf } from "./newest-set.ts";

/** The revision after the highest of the sets that are not the newest. After the last of 64 bits it is negative, as in Go. */
export function nextRevision(draft: Draft): bigint {
  const revisions = oldSetsOf(draft).map(({ annotations }) => revisionOf(annotations) ?? 0n);
  const highest = revisions.reduce((most, revision) => (revision > most ? revision : most), 0n);
  return BigInt.asIntN(64, highest + 1n);
}

/**
 * Brings the newest set's annotations, revision and `minReadySeconds` in line with the Deployment, and the Deployment's
 * revision with the set. A set that somebody went back to gets a new revision, and remembers those it was.
 */
export function syncRevision(draft: Draft): void {
  const newest = newSetOf(draft);
  if (newest === undefined) return;
  const told = revisionOf(draft.annotations) ?? 0n;
  inheritAnnotations(draft, newest, nextRevision(draft));
  newest.minReadySeconds = draft.deployment.spec.minReadySeconds;
  if (draft.deployment.spec.progressDeadlineSeconds === undefined) return;
  const { name } = newest.set.metadata;
  const progress = conditionIn(draft.status, "Progressing");
  if (progress === undefined) {
    const note = `Found new replica set "${name}"`;
    setCondition(draft, condition("Progressing", "True", "FoundNewReplicaSet", note));
  } else if (told < (revisionOf(newest.annotations) ?? 0n) && isMadeAfter(progress, newest)) {
    // A run has made it that did not live to tell: what is told of progress is of the rollout before.
    sayCreated(draft, name);
  }
}

const isMadeAfter = ({ lastUpdateTime }: DeploymentCondition, { set, annotations }: DraftSet): boolean =>
  (set.metadata.creationTimestamp ?? "") >= (lastUpdateTime ?? "") && !(historyAnnotation in annotations);

/** A rollout begins, and with it its deadline. */
export function sayCreated(draft: Draft, name: string): void {
  if (draft.deployment.spec.progressDeadlineSeconds === undefined) return;
  const note = `Created new replica set "${name}"`;
  setCondition(draft, condition("Progressing", "True", "NewReplicaSetCreated", note));
}

/** The newest set's annotations are those of the Deployment, and its revision is the Deployment's. */
export function inheritAnnotations(draft: Draft, newest: DraftSet, revision: bigint): void {
  const shared = { ...newest.annotations, ...sharedOf(draft.annotations) };
  newest.annotations = withRevision(shared, revision);
  const stated = newest.annotations[revisionAnnotation];
  if (stated !== undefined) draft.annotations = { ...draft.annotations, [revisionAnnotation]: stated };
}

function withRevision(annotations: Annotations, revision: bigint): Annotations {
  const before = revisionOf(annotations);
  // Somebody wrote what is no revision: it stays theirs. A set's own revision may be higher, when older sets are gone.
  if (before === undefined || before >= revision) return annotations;
  const was = annotations[revisionAnnotation];
  return {
    ...annotations,
    [revisionAnnotation]: String(revision),
    ...(was !== undefined && { [historyAnnotation]: remembered(annotations[historyAnnotation] ?? "", was) }),
  };
}

/** Characters of history that a set carries; the earliest go first. */
const longestHistory = 2_000;

function remembered(history: string, revision: string): string {
  const all = history === "" ? [] : history.split(",");
  const kept = [...all, revision];
  while (kept.length > 1 && kept.join(",").length > longestHistory) kept.shift();
  return kept.join(",");
}
