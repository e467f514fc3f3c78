// Random sequences of user actions on CronJobs: in each minute one or two, then the begin of the next minute.
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import { type Action, type Policy, type Sequence, uidOfJob } from "../sequences/actions.ts";
import { minutesAt } from "../sequences/times.ts";
import { cronJob, jobTemplate, longestName, schedule, zones } from "./cron-job-objects.ts";
import { jobAction } from "./job-actions.ts";

/** A CronJob that the sequence has made, as far as the next action is chosen by it. */
interface Made {
  readonly name: string;
  gone: boolean;
  suspended: boolean;
}

interface Scene {
  readonly random: PseudoRandom;
  readonly made: Made[];
  /** Nothing follows the next minute. */
  isOver: boolean;
}

function creation({ random, made }: Scene, name: string): Action {
  const suspended = random.chance(0.12);
  const fresh = { name, gone: false, suspended };
  const known = made.findIndex((one) => one.name === name);
  if (known < 0) made.push(fresh);
  else made[known] = fresh;
  return { do: "create", object: cronJob(random, name, suspended) };
}

const spec = (name: string, body: JsonObject): Action => ({
  do: "patch",
  kind: "CronJob",
  name,
  patch: { spec: body },
});

/** The API server refuses each of them. */
const invalid = (random: PseudoRandom, name: string): Action =>
  random.oneOf<Action>([
    spec(name, { schedule: "at noon" }),
    spec(name, { schedule: "61 * * * *" }),
    spec(name, { schedule: "TZ=UTC * * * * *" }),
    spec(name, { timeZone: "Mars/Base" }),
    spec(name, { timeZone: "Local" }),
    spec(name, { concurrencyPolicy: "Never" }),
    spec(name, { successfulJobsHistoryLimit: -1 }),
    spec(name, { startingDeadlineSeconds: -1 }),
    spec(name, { jobTemplate: { spec: { template: { spec: { restartPolicy: "Always" } } } } }),
    { do: "create", object: cronJob(random, `${longestName}x`, false) },
  ]);

function templateChange(random: PseudoRandom): JsonObject {
  return random.oneOf<JsonObject>([
    jobTemplate(random),
    jobTemplate(random),
    { metadata: { labels: { app: "changed" }, annotations: { note: "changed" } } },
    { metadata: { labels: null } },
    { spec: { template: { spec: { containers: [{ name: "main", image: "img:2" }] } } } },
    { spec: { suspend: random.chance(0.5) } },
  ]);
}

function rescheduling(random: PseudoRandom): JsonObject {
  const timeZone = random.oneOf<Json>([null, ...zones]);
  return random.chance(0.3) ? { timeZone } : schedule(random);
}

function cronJobAction(random: PseudoRandom, made: Made): Action {
  const { name } = made;
  const draw = random.below(60);
  if (draw < 16) {
    made.suspended = !made.suspended;
    return spec(name, { suspend: made.suspended });
  }
  if (draw < 26) return spec(name, { jobTemplate: templateChange(random) });
  if (draw < 33) return spec(name, rescheduling(random));
  if (draw < 41) return spec(name, { concurrencyPolicy: random.oneOf(["Allow", "Forbid", "Replace"]) });
  if (draw < 46) return spec(name, { startingDeadlineSeconds: random.oneOf<Json>([15, 50, 600, null]) });
  if (draw < 53)
    return spec(name, {
      successfulJobsHistoryLimit: random.oneOf<Json>([0, 1, 2, null]),
      failedJobsHistoryLimit: random.oneOf<Json>([0, 1, 2, null]),
    });
  if (draw < 55)
    return { do: "patch", kind: "CronJob", name, patch: { metadata: { labels: { team: "b" } } } };
  return invalid(random, name);
}

/** A Job of a user has the name of the next time's; or it belongs to another one. */
function foreign({ random }: Scene, { name }: Made, most: 1 | 2): readonly Action[] {
  const job = (of: string, metadata: JsonObject): Action => ({
    do: "create",
    object: {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: of, ...metadata },
      spec: { suspend: true, template: { spec: podSpec } },
    },
  });
  const next = `${name}-${minutesAt(1)}`;
  if (most === 1 || random.chance(0.5)) return [job(next, {})];
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "other", uid: uidOfJob("other") };
  return [job("other", {}), job(next, { ownerReferences: [{ ...owner, controller: true }] })];
}
const podSpec: JsonObject = { restartPolicy: "Never", containers: [{ name: "main", image: "img" }] };

/** One or two actions of a minute. */
function userActions(scene: Scene, at: number, most: 1 | 2): readonly Action[] {
  const { random, made } = scene;
  const one = made[random.below(made.length)];
  if (one === undefined) return [creation(scene, random.chance(0.12) ? longestName : "web")];
  if (one.gone) return [creation(scene, one.name)];
  const draw = random.below(100);
  if (draw < 8) {
    one.gone = true;
    const policy = random.oneOf<Policy>(["Background", "Foreground", "Orphan"]);
    const deletion: Action = { do: "delete", kind: "CronJob", name: one.name, policy };
    return most === 2 && random.chance(0.4) ? [deletion, creation(scene, one.name)] : [deletion];
  }
  if (draw < 10) {
    for (const each of made) each.gone = true;
    return [{ do: "clear" }];
  }
  if (draw < 15) {
    scene.isOver = true;
    return foreign(scene, one, most);
  }
  if (draw < 21 && made.length < 2) return [creation(scene, "api")];
  if (draw < 26)
    return [{ do: "kubectl", args: ["create", "job", `manual-${at}`, `--from=cronjob/${one.name}`] }];
  return [draw < 55 ? jobAction(random, one.name, at) : cronJobAction(random, one)];
}

/** The actions of one minute, and the next one. */
function round(scene: Scene, at: number): readonly Action[] {
  const first = userActions(scene, at, 2);
  const isRoom = first.length === 1 && !scene.isOver && scene.random.chance(0.6);
  const second = isRoom ? userActions(scene, at + 1, 1) : [];
  return [...first, ...second, { do: "minute" }];
}

/** The sequence of a seed: 3 to 5 minutes. */
export function sequenceOf(seed: number): Sequence {
  const scene: Scene = { random: pseudoRandom(seed), made: [], isOver: false };
  const minutes = 3 + scene.random.below(3);
  const actions: Action[] = [];
  for (let i = 0; i < minutes && !scene.isOver; i += 1) actions.push(...round(scene, actions.length + 1));
  return { seed, actions };
}
