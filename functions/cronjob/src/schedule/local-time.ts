/** A time as clocks in a time zone show it. */
export interface LocalTime {
  readonly year: number;
  /** From 1 on, as the day. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Seconds since 1970. */
export type Seconds = number;

/** The clocks of one time zone. */
export interface Clocks {
  readonly at: (time: Seconds) => LocalTime;
  /** By how many seconds they are ahead of UTC. */
  readonly offsetAt: (time: Seconds) => Seconds;
  /**
   * The time at which clocks show this. Fields may be out of range: the 32nd of a month is a day of the next. A time that
   * clocks skip, or show twice, is taken as Go's `time.Date` takes it.
   *
   * @see https://pkg.go.dev/time#Date
   */
  readonly when: (local: LocalTime) => Seconds;
}

/** @throws RangeError for a zone that is not in the time zone database. */
export function clocksOf(zone: string): Clocks {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const at = (time: Seconds): LocalTime => {
    const parts = new Map(format.formatToParts(time * 1_000).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    return {
      year: part("year"),
      month: part("month"),
      day: part("day"),
      hour: part("hour"),
      minute: part("minute"),
      second: part("second"),
    };
  };
  const offsetAt = (time: Seconds): Seconds => asIfUtc(at(time)) - time;
  return {
    at,
    offsetAt,
    when(local) {
      const time = asIfUtc(local);
      return time - offsetAt(time - offsetAt(time));
    },
  };
}

const asIfUtc = ({ year, month, day, hour, minute, second }: LocalTime): Seconds =>
  Date.UTC(year, month - 1, day, hour, minute, second) / 1_000;
