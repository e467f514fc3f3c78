// The state of a namespace with CronJobs, so that it can be compared with another run's: times of a schedule become minutes
// since the sequence began.
import {
  isObject,
  listAt,
  objectAt,
  omit,
  present,
  textAt,
  type Json,
  type JsonObject,
} from "../../../packages/sandbox/src/json.ts";
import { minuteOf, namedObjects, walkOf, whole, type Naming } from "../canonical/canonical.ts";
import { canonicalState as stateOfJobs } from "../jobs/state.ts";
import type { World } from "../observe.ts";
import { nameOf, uidOf } from "../sequences/kinds.ts";
import { timeAnnotation, timeOf } from "./cron-job.ts";

/** A time of a schedule, with its seconds and the offset of its zone, which it must have to the second. */
function shownTime(time: string, naming: Naming): string {
  const [, seconds = "?", zone = "?"] = /:(\d\d)(Z|[+-]\d\d:\d\d)$/.exec(time) ?? [];
  return `${minuteOf(Date.parse(time), naming)}, :${seconds}, ${zone}`;
}

function jobWithMinute(job: JsonObject, naming: Naming): JsonObject {
  const time = timeOf(job);
  if (time === undefined) return job;
  const metadata = objectAt(job, "metadata");
  const annotations = { ...objectAt(metadata, "annotations"), [timeAnnotation]: shownTime(time, naming) };
  return { ...job, metadata: { ...metadata, annotations } };
}

/** Active Jobs are compared by their existence, too. */
function shownActive(one: Json, jobs: ReadonlyMap<string, string>): Json {
  if (!isObject(one)) return one;
  const isThere = jobs.get(textAt(one, "uid") ?? "") === textAt(one, "name");
  const version = Number(textAt(one, "resourceVersion"));
  return {
    ...one,
    uid: isThere ? "of what is there" : "of nothing that is there",
    resourceVersion: version > 0 ? "<version>" : String(version),
  };
}

function cronJobWithMinutes(cronJob: JsonObject, naming: Naming, jobs: readonly JsonObject[]): JsonObject {
  const names = new Map(jobs.map((job) => [uidOf(job), nameOf(job)]));
  const spec = objectAt(cronJob, "spec");
  const status = objectAt(cronJob, "status");
  const schedule = textAt(spec, "schedule") ?? "";
  const last = textAt(status, "lastScheduleTime");
  const active = listAt(status, "active");
  return {
    ...cronJob,
    spec: { ...spec, schedule: naming.written.get(schedule) ?? schedule },
    status: present({
      ...omit(status, "active", "lastScheduleTime"),
      active: active.length === 0 ? undefined : active.map((one) => shownActive(one, names)),
      lastScheduleTime: last === undefined ? undefined : shownTime(last, naming),
    }),
  };
}

/** The state of a namespace, in a form in which two runs can be compared. */
export function canonicalState(world: World, naming: Naming): JsonObject {
  const jobs = world.objects("Job");
  const shown: World = {
    ...world,
    objects: (kind) => {
      if (kind === "Job") return jobs.map((job) => jobWithMinute(job, naming));
      const objects = world.objects(kind);
      return kind === "CronJob" ? objects.map((one) => cronJobWithMinutes(one, naming, jobs)) : objects;
    },
  };
  const how = walkOf(shown, naming);
  return {
    cronJobs: namedObjects(shown, how, "CronJob", (object) => whole(object, how)),
    ...stateOfJobs(shown, naming),
  };
}
