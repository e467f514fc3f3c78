// Places for times in the objects and patches of actions: minutes are counted from the moment at which it is written.
import { objectAt, parseJson, type JsonObject } from "../../../packages/sandbox/src/json.ts";

/** The minute of an hour, as clocks in a zone show it, so many minutes from now. */
export const minuteAt = (later: number, zone = "UTC"): string => `<minute ${later} in ${zone}>`;
/** The hour of a day, in the same way. */
export const hourAt = (later: number, zone = "UTC"): string => `<hour ${later} in ${zone}>`;
/** How many minutes have passed since 1970: the end of the name of a CronJob's Job. */
export const minutesAt = (later: number): string => `<minutes ${later} in UTC>`;

const place = /<(minute|hour|minutes) (-?\d+) in ([A-Za-z_/]+)>/g;
const quotedWithPlaces = /"[^"]*<(?:minute|hour|minutes) [^"]*"/g;

function onClock(unit: string, ms: number, timeZone: string): string {
  if (unit === "minutes") return String(Math.floor(ms / 60_000));
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const shown = clock.formatToParts(ms).find(({ type }) => type === unit)?.value;
  return String(Number(shown));
}

/** An object or patch with the times in their places. Notes in `written` which texts became which. */
export function withTimes(object: JsonObject, written: Map<string, string>, now = Date.now()): JsonObject {
  const text = JSON.stringify(object).replace(quotedWithPlaces, (quoted) => {
    const filled = quoted.replace(place, (_, unit: string, later: string, zone: string) =>
      onClock(unit, now + Number(later) * 60_000, zone),
    );
    written.set(filled.slice(1, -1), quoted.slice(1, -1));
    return filled;
  });
  return objectAt(parseJson(text));
}
