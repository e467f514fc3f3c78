import { type Fields, readFields, ScheduleError } from "./fields.ts";
import { type Clocks, clocksOf, type LocalTime, type Seconds } from "./local-time.ts";

/** The times of a CronJob. */
export interface Schedule {
  /** The first time after this one; undefined if there is none within five years. */
  readonly next: (after: Seconds) => Seconds | undefined;
}

const descriptors: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/**
 * Reads a schedule as `ParseStandard` of robfig/cron 3.0.1 does, which kube-controller-manager uses. No library for
 * JavaScript skips and repeats the same times when clocks change.
 *
 * @param zone a name in the time zone database, unless the schedule begins with `TZ=` or `CRON_TZ=`.
 * @throws ScheduleError, or RangeError for an unknown zone.
 * @see https://github.com/robfig/cron/blob/v3.0.1/spec.go
 */
export function readSchedule(text: string, zone: string): Schedule {
  if (text === "") throw new ScheduleError("empty spec string");
  const [, own, rest = text] = /^(?:CRON_)?TZ=([^ ]*) (.*)$/s.exec(text) ?? [];
  const trimmed = own === undefined ? text : rest.trim();
  const clocks = clocksOf(own === undefined ? zone : own || "UTC");
  const [, every] = /^@every (.*)$/s.exec(trimmed) ?? [];
  if (every !== undefined) return constantDelay(every);
  const fields = trimmed.startsWith("@") ? descriptors[trimmed] : trimmed;
  if (fields === undefined) throw new ScheduleError(`unrecognized descriptor: ${trimmed}`);
  const read = readFields(fields);
  return { next: (after) => nextMatch(read, clocks, after) };
}

const units: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3_600,
};

/** `@every 1h30m`: so long after each time, in whole seconds, one at least. As Go's `time.ParseDuration`. */
function constantDelay(text: string): Schedule {
  const [, sign, rest = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  const parts = [...rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy)];
  const length = parts.reduce((sum, [part]) => sum + part.length, 0);
  if (rest !== "0" && (length === 0 || length < rest.length))
    throw new ScheduleError(`failed to parse duration @every ${text}`);
  const seconds = parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (units[unit] ?? 0), 0);
  const delay = sign === "-" ? 1 : Math.max(1, Math.floor(seconds));
  return { next: (after) => Math.floor(after) + delay };
}

const maxYears = 5;

/** The search of robfig/cron: the first month that matches, then the day, the hour and the minute. */
function nextMatch(fields: Fields, clocks: Clocks, after: Seconds): Seconds | undefined {
  // A field such as `,` matches nothing, and there would be millions of minutes to try.
  if ([fields.minute, fields.hour, fields.month].some(({ values }) => values.size === 0)) return undefined;
  const shownAt = (time: Seconds) => ({ time, local: clocks.at(time) });
  // The next second; seconds are matched last, by 0.
  let now = shownAt(Math.floor(after) + 1);
  const lastYear = now.local.year + maxYears;
  // True once a field was moved on: those below it begin at their first value.
  let isMoved = false;
  const startOf = (local: Partial<LocalTime>): void => {
    if (!isMoved) now = shownAt(clocks.when({ ...now.local, ...local }));
    isMoved = true;
  };
  for (;;) {
    if (now.local.year > lastYear) return undefined;
    if (!reachMonth() || !reachDay() || !reachHour() || !reachMinute() || !reachSecond()) continue;
    return now.time;
  }

  function reachMonth(): boolean {
    while (!fields.month.values.has(now.local.month)) {
      startOf({ day: 1, hour: 0, minute: 0, second: 0 });
      now = shownAt(clocks.when({ ...now.local, month: now.local.month + 1 }));
      if (now.local.month === 1) return false;
    }
    return true;
  }

  function reachDay(): boolean {
    while (!isDay(fields, now.local)) {
      startOf({ hour: 0, minute: 0, second: 0 });
      now = shownAt(clocks.when({ ...now.local, day: now.local.day + 1 }));
      // Midnight may be skipped, or come twice.
      const { hour } = now.local;
      if (hour !== 0) now = shownAt(now.time + (hour > 12 ? 24 - hour : -hour) * 3_600);
      if (now.local.day === 1) return false;
    }
    return true;
  }

  function reachHour(): boolean {
    while (!fields.hour.values.has(now.local.hour)) {
      startOf({ minute: 0, second: 0 });
      now = shownAt(now.time + 3_600);
      if (now.local.hour === 0) return false;
    }
    return true;
  }

  function reachMinute(): boolean {
    while (!fields.minute.values.has(now.local.minute)) {
      const begin = isMoved ? now.time : now.time - (now.time % 60);
      isMoved = true;
      now = shownAt(begin + 60);
      if (now.local.minute === 0) return false;
    }
    return true;
  }

  function reachSecond(): boolean {
    while (now.local.second !== 0) {
      isMoved = true;
      now = shownAt(now.time + 1);
      if (now.local.second === 0) return false;
    }
    return true;
  }
}

/** Both days must match if one of them restricts nothing; else one of them is enough. */
function isDay({ dayOfMonth, dayOfWeek }: Fields, { year, month, day }: LocalTime): boolean {
  const inMonth = dayOfMonth.values.has(day);
  const inWeek = dayOfWeek.values.has(new Date(Date.UTC(year, month - 1, day)).getUTCDay());
  return dayOfMonth.isAny || dayOfWeek.isAny ? inMonth && inWeek : inMonth || inWeek;
}
