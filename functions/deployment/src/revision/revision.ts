import {
  type Annotations,
  historyAnnotation,
  revisionAnnotation,
  revisionOf,
  sharedOf,
} from "../annotations.ts";
import { conditionFields, findCondition, setCondition } from "../status/deployment-conditions.ts";
import type { DeploymentCondition } from "../deployment.ts";
import type { Draft, DraftSet } from "../draft.ts";
import { newSetOf, oldSetsOf } from "../rollout/find-new-set.ts";

/** One more than the highest revision of the old sets. After the largest 64-bit integer it is negative, as in Go. */
export function nextRevision(draft: Draft): bigint {
  const revisions = oldSetsOf(draft).map(({ annotations }) => revisionOf(annotations) ?? 0n);
  const highest = revisions.reduce((most, revision) => (revision > most ? revision : most), 0n);
  return BigInt.asIntN(64, highest + 1n);
}

/**
 * Brings the newest set's annotations, revision and `minReadySeconds` in line with the Deployment, and the Deployment's
 * revision with the set. A set to which the Deployment was rolled back gets a new revision, and keeps its earlier ones
 * as its history.
 */
export function syncRevision(draft: Draft): void {
  const newest = newSetOf(draft);
  if (newest === undefined) return;
  const known = revisionOf(draft.annotations) ?? 0n;
  inheritAnnotations(draft, newest, nextRevision(draft));
  newest.minReadySeconds = draft.deployment.spec.minReadySeconds;
  if (draft.deployment.spec.progressDeadlineSeconds === undefined) return;
  const { name } = newest.set.metadata;
  const progress = findCondition(draft.status, "Progressing");
  if (progress === undefined) {
    const note = `Found new replica set "${name}"`;
    setCondition(draft, conditionFields("Progressing", "True", "FoundNewReplicaSet", note));
  } else if (known < (revisionOf(newest.annotations) ?? 0n) && isMadeAfter(progress, newest)) {
    // The run that created it died before it wrote the status: Progressing is still that of the rollout before.
    recordSetCreated(draft, name);
  }
}

const isMadeAfter = ({ lastUpdateTime }: DeploymentCondition, { set, annotations }: DraftSet): boolean =>
  (set.metadata.creationTimestamp ?? "") >= (lastUpdateTime ?? "") && !(historyAnnotation in annotations);

/** Sets Progressing when a rollout begins, and with it its deadline. */
export function recordSetCreated(draft: Draft, name: string): void {
  if (draft.deployment.spec.progressDeadlineSeconds === undefined) return;
  const note = `Created new replica set "${name}"`;
  setCondition(draft, conditionFields("Progressing", "True", "NewReplicaSetCreated", note));
}

/** Copies the Deployment's annotations to the newest set, and the set's revision to the Deployment. */
export function inheritAnnotations(draft: Draft, newest: DraftSet, revision: bigint): void {
  const shared = { ...newest.annotations, ...sharedOf(draft.annotations) };
  newest.annotations = withRevision(shared, revision);
  const stated = newest.annotations[revisionAnnotation];
  if (stated !== undefined) draft.annotations = { ...draft.annotations, [revisionAnnotation]: stated };
}

function withRevision(annotations: Annotations, revision: bigint): Annotations {
  const before = revisionOf(annotations);
  // Text that is not a revision comes from a user, and stays. A set's own revision may be higher if older sets are
  // gone.
  if (before === undefined || before >= revision) return annotations;
  const was = annotations[revisionAnnotation];
  return {
    ...annotations,
    [revisionAnnotation]: String(revision),
    ...(was !== undefined && {
      [historyAnnotation]: appendHistory(annotations[historyAnnotation] ?? "", was),
    }),
  };
}

/** The maximum number of characters of a set's history. The earliest revisions are removed first. */
const maxHistoryLength = 2_000;

function appendHistory(history: string, revision: string): string {
  const all = history === "" ? [] : history.split(",");
  const kept = [...all, revision];
  while (kept.length > 1 && kept.join(",").length > maxHistoryLength) kept.shift();
  return kept.join(",");
}
