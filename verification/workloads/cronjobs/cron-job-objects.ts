// CronJobs of all kinds, at random.
import { delayAnnotation, fateAnnotation } from "@drover/real-cluster";
import type { PseudoRandom } from "@drover/random";
import { isObject, type Json, type JsonObject } from "../../../packages/sandbox/src/json.ts";
import { hourAt, minuteAt } from "../sequences/times.ts";

/** The longest that the API server takes. */
export const longestName = "a-cron-job-with-the-longest-name-that-there-can-be-x";

/** With offsets that are no whole hours, too. */
export const zones = [
  "Etc/UTC",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "America/St_Johns",
  "Pacific/Auckland",
] as const;

/** Often each minute; else some minutes from now, one that is far away, or one that never comes. */
export function schedule(random: PseudoRandom): JsonObject {
  const zone = random.oneOf<(typeof zones)[number] | undefined>([
    undefined,
    undefined,
    undefined,
    undefined,
    ...zones,
  ]);
  const timeZone = zone === undefined ? {} : { timeZone: zone };
  const minutes = (...later: readonly number[]): string => later.map((one) => minuteAt(one, zone)).join();
  const daily = (later: number): string => `${minuteAt(later, zone)} ${hourAt(later, zone)} * * *`;
  return {
    schedule: random.oneOf([
      ...Array.from({ length: 12 }, () => "* * * * *"),
      "*/1 0-23 ? * 0-6",
      `${minutes(1, 3)} * * * *`,
      `${minutes(2, 3)} * * * *`,
      `${minutes(-1, 2, 4)} * * * *`,
      daily(1),
      daily(2),
      "@yearly",
      "59 23 31 2 *",
    ]),
    ...timeZone,
  };
}

/** Its pods succeed, fail or run on; or it does not begin. */
export function jobTemplate(random: PseudoRandom): JsonObject {
  const fate = random.oneOf<Json>([
    "succeeds",
    "succeeds",
    "succeeds",
    "succeeds",
    "fails",
    "fails",
    null,
    null,
    null,
  ]);
  return {
    spec: {
      backoffLimit: 0,
      suspend: fate === null && random.chance(0.3),
      ttlSecondsAfterFinished: random.chance(0.1) ? 3 : null,
      template: {
        metadata: {
          annotations: { [fateAnnotation]: fate, [delayAnnotation]: random.chance(0.3) ? "1s" : null },
        },
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "img:1" }] },
      },
    },
  };
}

/** A patch as what it makes of nothing. */
const withoutNulls = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([key, inner]) => [key, isObject(inner) ? withoutNulls(inner) : inner]),
  );

export function cronJob(random: PseudoRandom, name: string, suspend: boolean): JsonObject {
  const template = withoutNulls(jobTemplate(random));
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name, labels: { app: name } },
    spec: {
      ...schedule(random),
      ...(suspend && { suspend }),
      ...(random.chance(0.85) && {
        concurrencyPolicy: random.oneOf(["Allow", "Allow", "Forbid", "Forbid", "Replace"]),
      }),
      ...(random.chance(0.25) && { startingDeadlineSeconds: random.oneOf([15, 50, 600]) }),
      ...(random.chance(0.5) && { successfulJobsHistoryLimit: random.oneOf([0, 1, 2]) }),
      ...(random.chance(0.4) && { failedJobsHistoryLimit: random.oneOf([0, 1, 2]) }),
      jobTemplate: {
        ...template,
        ...(random.chance(0.4) && {
          metadata: { labels: { app: name }, annotations: { note: random.oneOf(["a", "b"]) } },
        }),
      },
    },
  };
}
