import { spreadOf } from "../../queue/report/select.ts";
import { figure, type Goal, goalTable, range } from "../../report/markdown.ts";
import { bridgeAndRedis, type MemoryFigures, type PhaseFigures } from "../questions/phase.ts";
import type { RestartFigures } from "../questions/restart.ts";
import type { SteadyFigures } from "../questions/steady.ts";
import type { ReplayFigures } from "../questions/replay.ts";
import type { Results } from "../results.ts";
import { phaseTitles } from "./restart-tables.ts";
import { count, mib } from "./units.ts";

/** What we want of the bridge, and what came out. */
export function goals({ restart, replay, steady }: Results): string {
  const all = [
    ...(restart ? [...wakes(restart), ...memory(restart)] : []),
    ...(replay ? [speed(replay)] : []),
    ...(steady ? flat(steady) : []),
  ];
  return goalTable(all);
}

const ours = ({ phases }: RestartFigures): readonly PhaseFigures[] =>
  phases.filter(({ contestant }) => contestant === "drover");

function wakes(figures: RestartFigures): Goal[] {
  return ours(figures).map((f) => {
    const { keys, phase, wakes = 0, runs } = f;
    const found = `${count(wakes)} wakes of ${count(keys.woken)} keys, ${count(runs)} runs`;
    switch (phase) {
      case "first":
        return {
          what: "first start: every key",
          wanted: `${count(figures.objects)} keys`,
          found,
          met: keys.missed === 0 && keys.woken === figures.objects,
        };
      case "restart":
        return { what: phaseTitles[phase], wanted: "0 wakes, 0 runs", found, met: wakes === 0 && runs === 0 };
      case "changes":
      case "changes, position too old": {
        const noticed = Object.values(keys.noticed ?? {});
        const met = keys.others === 0 && noticed.every(([some, made]) => some === made);
        return { what: phaseTitles[phase], wanted: "exactly the 37 keys", found, met };
      }
    }
  });
}

function memory(figures: RestartFigures): Goal[] {
  const highest = Math.max(...ours(figures).map((f) => of(f, "bridge")?.highest ?? 0));
  const limit = 250 * 1024 ** 2;
  return [
    {
      what: "bridge, highest RSS",
      wanted: "under 250 MiB",
      found: `${mib(highest)} MiB`,
      met: highest < limit,
    },
    ...(["first", "restart"] as const).flatMap((phase) => [
      beside(figures, phase, "peak"),
      beside(figures, phase, "settled"),
    ]),
  ];
}

const of = (phase: PhaseFigures | undefined, name: string): MemoryFigures | undefined =>
  phase?.memory.find((each) => each.of === name);

function beside({ phases }: RestartFigures, phase: "first" | "restart", when: "peak" | "settled"): Goal {
  const rssOf = (contestant: string, name: string): number =>
    of(
      phases.find((f) => f.contestant === contestant && f.phase === phase),
      name,
    )?.[when].rss ?? NaN;
  const mine = rssOf("drover", bridgeAndRedis);
  const theirs = rssOf("typed", "controller-runtime");
  const least = rssOf("metadata", "controller-runtime");
  return {
    what: `${phaseTitles[phase]}: RSS of bridge + Redis, ${when}`,
    wanted: `at most controller-runtime's ${mib(theirs)} MiB (metadata only: ${mib(least)})`,
    found: `${mib(mine)} MiB`,
    met: mine <= theirs,
  };
}

function speed({ rounds }: ReplayFigures): Goal {
  const speed = spreadOf(
    rounds,
    ({ reader }) => reader === "bridge",
    (f) => f.eventsPerSecond,
  );
  return {
    what: "events/s of a recorded watch, end to end into Redis",
    wanted: "at least 10,000",
    found: speed ? range(speed) : "-",
    met: speed !== undefined && speed.median >= 10_000,
  };
}

/** Flat: the last part's p99 is at most half as long again as the first's, or within 5 ms of it. */
function flat({ parts: [first, last], all, changesPerSecond, answeredPerSecond }: SteadyFigures): Goal[] {
  const span = "Drover: run begins";
  const kept = answeredPerSecond > 0.98 * changesPerSecond;
  const [before, after] = [first?.lags[span].p99 ?? NaN, last?.lags[span].p99 ?? NaN];
  return [
    {
      what: "steady changes: answered by the API server (or the machine is too slow, and the other figures mean nothing)",
      wanted: `${count(changesPerSecond)}/s`,
      found: `${figure(answeredPerSecond)}/s`,
      met: kept,
    },
    {
      what: "steady changes: p99 from change to run, last part beside the first",
      wanted: "flat",
      found: `${figure(before)} ms, then ${figure(after)} ms`,
      met: kept && after <= Math.max(1.5 * before, before + 5),
    },
    {
      what: "steady changes that no run came after",
      wanted: "0",
      found: count(all[span].lost),
      met: all[span].lost === 0,
    },
  ];
}
