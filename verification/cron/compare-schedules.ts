import { pseudoRandom } from "@drover/random";
import { clocksOf } from "../../functions/cronjob/src/schedule/local-time.ts";
import { readSchedule } from "../../functions/cronjob/src/schedule/schedule.ts";
import { askRobfig, type Answer, type Question } from "./ask-robfig.ts";
import { scheduleOf } from "./random-schedules.ts";

const begin = Date.UTC(2026, 0, 1) / 1_000;
const span = 8 * 365 * 86_400;
/** Times of each schedule. */
const count = 5;

interface Asked extends Question {
  readonly schedule: string;
  readonly after: number;
}

export interface Comparison {
  readonly differing: readonly {
    readonly question: Asked;
    readonly theirs: Answer;
    readonly ours: Answer;
  }[];
  readonly times: number;
  readonly refused: number;
  /** Zones of which the two sides have other editions of the time zone database. */
  readonly leftOut: readonly string[];
}

/**
 * Compares the next times of random schedules in random time zones, as the function for CronJobs finds them and as
 * robfig/cron in Go does. Half of them begin within two days before a change of clocks.
 */
export async function compareSchedules(schedules: number, seed: number): Promise<Comparison> {
  const robfig = askRobfig();
  const { zones, leftOut } = await sameZones(robfig.ask);
  const random = pseudoRandom(seed);
  const questions = Array.from({ length: schedules }, (): Asked => {
    const zone = random.oneOf(zones);
    const from = begin + random.below(span);
    const change = random.chance(0.5) ? changeAfter(zone, from) : undefined;
    const after = change === undefined ? from : change - 2 * 86_400 + random.below(2 * 86_400);
    return { schedule: scheduleOf(random), zone, after, count };
  });
  const differing: Comparison["differing"][number][] = [];
  let [times, refused] = [0, 0];
  for await (const [question, theirs] of robfig.ask(questions)) {
    const ours = answerOf(question);
    times += theirs.times?.length ?? 0;
    if (theirs.error !== undefined) refused++;
    const isSame =
      theirs.error !== undefined
        ? ours.error !== undefined
        : JSON.stringify(ours.times) === JSON.stringify(theirs.times ?? []);
    if (!isSame) differing.push({ question, theirs, ours });
  }
  await robfig.end();
  return { differing, times, refused, leftOut };
}

function answerOf({ schedule, zone, after }: Asked): Answer {
  try {
    const found = readSchedule(schedule, zone);
    const times: number[] = [];
    for (let at = found.next(after); at !== undefined && times.length < count; at = found.next(at))
      times.push(at);
    return { times };
  } catch (error) {
    return { error: String(error) };
  }
}

async function sameZones(ask: ReturnType<typeof askRobfig>["ask"]) {
  const days = Array.from({ length: (span + 6 * 365 * 86_400) / 172_800 }, (_, i) => begin + i * 172_800);
  const all = Intl.supportedValuesOf("timeZone").map((zone) => ({ zone, offsetsAt: days }));
  const [zones, leftOut]: string[][] = [[], []];
  for await (const [{ zone }, { offsets = [] }] of ask(all)) {
    const { offsetAt } = clocksOf(zone);
    const isSame = days.every((day, i) => offsetAt(day) === offsets[i]);
    (isSame ? zones : leftOut)?.push(zone);
  }
  return { zones: zones ?? [], leftOut: leftOut ?? [] };
}

/** A time at which clocks of the zone change, by bisection; undefined if they do not within a year. */
function changeAfter(zone: string, from: number): number | undefined {
  const { offsetAt } = clocksOf(zone);
  for (let day = from; day < from + 366 * 86_400; day += 7 * 86_400) {
    if (offsetAt(day) === offsetAt(day + 7 * 86_400)) continue;
    let [low, high] = [day, day + 7 * 86_400];
    while (high - low > 60) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle) === offsetAt(day)) low = middle;
      else high = middle;
    }
    return high;
  }
  return undefined;
}
