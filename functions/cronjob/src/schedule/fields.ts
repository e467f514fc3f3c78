/** The values of one field of a schedule that match. */
export interface Field {
  readonly values: ReadonlySet<number>;
  /** True if it has `*` or `?`, and so restricts nothing. */
  readonly isAny: boolean;
}

/** A schedule by its fields, to the minute. */
export interface Fields {
  readonly minute: Field;
  readonly hour: Field;
  readonly dayOfMonth: Field;
  readonly month: Field;
  readonly dayOfWeek: Field;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Names of values, the first of them that of `min`. */
  readonly names?: readonly string[];
}

const bounds = {
  minute: { min: 0, max: 59 },
  hour: { min: 0, max: 23 },
  dayOfMonth: { min: 1, max: 31 },
  month: {
    min: 1,
    max: 12,
    names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  },
  dayOfWeek: { min: 0, max: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
} as const satisfies Record<keyof Fields, Bounds>;

/** A schedule that cannot be read; the message says why, as that of robfig/cron does. */
export class ScheduleError extends Error {
  override readonly name = "ScheduleError";
}

/** Reads `minute hour day-of-month month day-of-week`. @throws ScheduleError */
export function readFields(text: string): Fields {
  const parts = text.split(/\s+/).filter((part) => part !== "");
  if (parts.length !== 5)
    throw new ScheduleError(`expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`);
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = parts;
  return {
    minute: readField(minute, bounds.minute),
    hour: readField(hour, bounds.hour),
    dayOfMonth: readField(dayOfMonth, bounds.dayOfMonth),
    month: readField(month, bounds.month),
    dayOfWeek: readField(dayOfWeek, bounds.dayOfWeek),
  };
}

/** Ranges with commas between them. */
function readField(text: string, limits: Bounds): Field {
  const ranges = text
    .split(",")
    .filter((part) => part !== "")
    .map((part) => readRange(part, limits));
  return {
    values: new Set(ranges.flatMap(({ values }) => [...values])),
    isAny: ranges.some(({ isAny }) => isAny),
  };
}

/** `first-last/step`, `first/step` up to the maximum, or `*` in place of a range. */
function readRange(text: string, limits: Bounds): Field {
  const [range = "", step, ...slashes] = text.split("/");
  const [low = "", high, ...hyphens] = range.split("-");
  const isStar = low === "*" || low === "?";
  if (hyphens.length > 0 && !isStar) throw new ScheduleError(`too many hyphens: ${text}`);
  const first = isStar ? limits.min : readValue(low, limits);
  const single = step === undefined ? first : limits.max;
  const given = high === undefined ? single : isStar ? limits.max : readValue(high, limits);
  const last = isStar ? limits.max : given;
  if (slashes.length > 0) throw new ScheduleError(`too many slashes: ${text}`);
  const by = step === undefined ? 1 : readNumber(step);
  if (first < limits.min)
    throw new ScheduleError(`beginning of range (${first}) below minimum (${limits.min}): ${text}`);
  if (last > limits.max)
    throw new ScheduleError(`end of range (${last}) above maximum (${limits.max}): ${text}`);
  if (first > last)
    throw new ScheduleError(`beginning of range (${first}) beyond end of range (${last}): ${text}`);
  if (by === 0) throw new ScheduleError(`step of range should be a positive number: ${text}`);
  const values = new Set<number>();
  for (let value = first; value <= last; value += by) values.add(value);
  return { values, isAny: isStar && by === 1 };
}

function readValue(text: string, { min, names = [] }: Bounds): number {
  const named = names.indexOf(text.toLowerCase());
  return named < 0 ? readNumber(text) : min + named;
}

function readNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new ScheduleError(`failed to parse int from ${text}`);
  const value = Number(text);
  if (value < 0) throw new ScheduleError(`negative number (${value}) not allowed: ${text}`);
  return value;
}
