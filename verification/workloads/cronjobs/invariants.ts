// Invariants of any CronJob controller at every moment, checked on the watch events of one action.
import { textAt, type JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Span } from "../family.ts";
import { follow, inOrder, livesOf, objectsOf, type Seen } from "../observe.ts";
import { controllerOf, isLeaving, isOwnedBy, nameOf, uidOf } from "../sequences/kinds.ts";
import { endOf, forbids, isSuspended, timeOf, tooManyKept } from "./cron-job.ts";

type Lives = ReadonlyMap<string, Seen>;

/** A Job was started for a time when none may be. */
function startedWrongly(job: JsonObject, lives: Lives): readonly string[] {
  const owner = lives.get(textAt(controllerOf(job), "uid") ?? "")?.object;
  if (owner === undefined) return [`${nameOf(job)} is started for a CronJob that is gone`];
  const found: string[] = [];
  if (isSuspended(owner)) found.push(`${nameOf(job)} is started while ${nameOf(owner)} is suspended`);
  const rival = objectsOf(lives, "Job").find(
    (one) => isOwnedBy(one, owner) && timeOf(one) !== undefined && endOf(one) === undefined,
  );
  if (forbids(owner) && rival !== undefined)
    found.push(`${nameOf(job)} is started beside ${nameOf(rival)}, which ${nameOf(owner)} forbids`);
  return found;
}

/** The Jobs that were started for times, by CronJob and time. */
function startedTimes(seen: readonly Seen[]): ReadonlyMap<string, ReadonlySet<string>> {
  const uids = new Map<string, Set<string>>();
  for (const { kind, type, object } of seen) {
    const time = timeOf(object);
    const owner = controllerOf(object);
    if (kind !== "Job" || type !== "ADDED" || time === undefined || owner === undefined) continue;
    const key = `${textAt(owner, "name") ?? ""} ${textAt(owner, "uid") ?? ""} at ${time}`;
    uids.set(key, (uids.get(key) ?? new Set()).add(uidOf(object)));
  }
  return uids;
}

/** The rules that were broken, in words; each once. */
export function violations({ before, during }: Span): readonly string[] {
  const found = new Set<string>();
  const lives = livesOf(before);
  for (const one of inOrder(during)) {
    if (one.kind === "Job" && one.type === "ADDED" && timeOf(one.object) !== undefined)
      for (const problem of startedWrongly(one.object, lives)) found.add(problem);
    follow(lives, one);
  }
  for (const [what, uids] of startedTimes([...before, ...during]))
    if (uids.size > 1) found.add(`${uids.size} Jobs are started for ${what}`);
  for (const cronJob of objectsOf(lives, "CronJob")) {
    const kept = isLeaving(cronJob) ? undefined : tooManyKept(cronJob, objectsOf(lives, "Job"));
    if (kept !== undefined) found.add(`${nameOf(cronJob)} ${kept}`);
  }
  return [...found];
}
