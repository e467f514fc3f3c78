// Invariants of any Job controller at every moment, checked on the watch events of one action.
import { field, listAt, textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Span } from "../family.ts";
import { follow, inOrder, livesOf, objectsOf, type Seen } from "../observe.ts";
import { counted, hasEnded, isActive, isLeaving, isOwnedBy, nameOf, uidOf } from "../sequences/kinds.ts";
import {
  awaitsEnds,
  completionsOf,
  indexesIn,
  indexOf,
  isFinished,
  isIndexed,
  isManagedByOther,
  isTerminating,
  isTracked,
  parallelismOf,
} from "./job.ts";

type Lives = ReadonlyMap<string, Seen>;

/** The most of a number that a Job asked for while the action was done. */
interface Watched {
  /** As it was last. */
  readonly job: JsonObject;
  readonly parallelism: number;
  readonly completions: number;
}

function watchedIn({ before, during }: Span): readonly Watched[] {
  const past = livesOf(before);
  return objectsOf(livesOf([...before, ...during]), "Job").map((job) => {
    const was = past.get(uidOf(job))?.object;
    const all = was === undefined ? [job] : [job, was];
    return {
      job,
      parallelism: Math.max(...all.map(parallelismOf)),
      completions: Math.max(...all.map((one) => completionsOf(one) ?? Infinity)),
    };
  });
}

/** A pod that the Job's controller has created: too many, or one of an index that another pod is active for. */
function superfluous(
  { job, parallelism, completions }: Watched,
  lives: Lives,
  pod: JsonObject,
): readonly string[] {
  const others = objectsOf(lives, "Pod").filter((one) => isOwnedBy(one, job));
  const active = others.filter(isActive);
  const found: string[] = [];
  if (active.length + 1 > parallelism)
    found.push(`${nameOf(pod)} is one of ${active.length + 1} active pods: at most ${parallelism} may be`);
  const succeeded = others.filter((one) => !isLeaving(one) && textAt(one, "status", "phase") === "Succeeded");
  if (!isIndexed(job) && active.length + succeeded.length + 1 > completions)
    found.push(`${nameOf(pod)} is not needed for ${completions} completions`);
  const index = indexOf(pod);
  const rivals = awaitsEnds(job) ? others.filter((one) => isActive(one) || isTerminating(one)) : active;
  const twin = isIndexed(job) ? rivals.find((one) => indexOf(one) === index) : undefined;
  if (twin !== undefined) found.push(`${nameOf(pod)} has the index of ${nameOf(twin)}`);
  return found;
}

/** The status has counted the pod, or noted that it is to. */
function isNoted(job: Json, pod: Json): boolean {
  const noted = ["succeeded", "failed"].flatMap((how) =>
    listAt(job, "status", "uncountedTerminatedPods", how),
  );
  if (noted.includes(uidOf(pod))) return true;
  if (!isIndexed(job)) return false;
  const index = indexOf(pod) ?? Infinity;
  if (index >= (completionsOf(job) ?? 0)) return true;
  return (
    textAt(pod, "status", "phase") === "Succeeded" &&
    indexesIn(textAt(job, "status", "completedIndexes") ?? "").has(index)
  );
}

/** A pod that has ended and loses its finalizer before it is counted. */
function uncounted(
  job: JsonObject,
  was: JsonObject | undefined,
  { type, object: pod }: Seen,
): readonly string[] {
  if (was === undefined || !isTracked(was) || !hasEnded(was) || isLeaving(was)) return [];
  if (type !== "DELETED" && (isTracked(pod) || !isOwnedBy(pod, job))) return [];
  // Its failures may be ignored.
  if (field(job, "spec", "podFailurePolicy") !== undefined && textAt(was, "status", "phase") === "Failed")
    return [];
  if (isLeaving(job) || isFinished(job) || isManagedByOther(job)) return [];
  return isNoted(job, was) ? [] : [`${nameOf(pod)} has lost its finalizer and is not counted`];
}

/** Counts that have become smaller. */
function decreased(was: JsonObject, job: JsonObject): readonly string[] {
  const isScaled = completionsOf(was) !== completionsOf(job);
  return ["succeeded", "failed"]
    .filter((name) => counted(job, name) < counted(was, name) && !(name === "succeeded" && isScaled))
    .map((name) => `${nameOf(job)} has ${counted(job, name)} ${name} pods after ${counted(was, name)}`);
}

function problemsOf(watched: Watched, lives: Lives, one: Seen): readonly string[] {
  const { job } = watched;
  const was = lives.get(uidOf(one.object))?.object;
  if (one.kind === "Job")
    return was !== undefined && uidOf(was) === uidOf(job) ? decreased(was, one.object) : [];
  const atThatTime = lives.get(uidOf(job))?.object;
  if (one.kind !== "Pod" || atThatTime === undefined) return [];
  if (one.type === "ADDED") return isOwnedBy(one.object, job) ? superfluous(watched, lives, one.object) : [];
  return was !== undefined && isOwnedBy(was, job) ? uncounted(atThatTime, was, one) : [];
}

/** The rules that were broken, in words; each once. */
export function violations(span: Span): readonly string[] {
  const found = new Set<string>();
  const during = inOrder(span.during);
  for (const watched of watchedIn(span)) {
    const lives = livesOf(span.before);
    for (const one of during) {
      for (const problem of problemsOf(watched, lives, one)) found.add(problem);
      follow(lives, one);
    }
  }
  return [...found];
}
