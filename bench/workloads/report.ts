import { type Circumstances, percents } from "../report/command-line.ts";
import { spread } from "../../verification/harness/spread.ts";
import { ratios } from "../report/ratios.ts";
import { countTable, range, table } from "../report/markdown.ts";
import { type Contestant, contestants } from "./contestants.ts";
import type { Figures } from "./measured.ts";

const calls = ({ requests }: Figures): number =>
  Object.values(requests).reduce((sum, count) => sum + count, 0);
const time = ({ times }: Figures): number => spread(times).median;
const measures = [
  ["time, ms", time],
  ["API calls", calls],
  ["CPU, s", ({ cpu }: Figures) => cpu],
  ["API server's CPU, s", ({ apiServerCpu }: Figures) => apiServerCpu],
] as const;

/** @param rounds of each contestant, in the order in which they were. */
export function report(rounds: readonly (readonly Figures[])[], conditions: Circumstances): string {
  const all = rounds.flat();
  const loads = [...new Set(all.map(({ load }) => load))];
  const busy = percents(conditions.busy, " and ");
  return [
    "<!-- Written by npm run bench:workloads. -->",
    "# Workloads: Drover's functions beside kube-controller-manager",
    `\`${conditions.command}\` on ${conditions.machine}, which was ${busy} busy before and after. ` +
      "min / **median** / max of the rounds; ratios are taken within a round.",
    comparison(all, loads),
    "## API calls of the last round, by what they asked for",
    ...loads.map((load) => `### ${load}\n\n${callsBy(all, load)}`),
  ].join("\n\n");
}

const of = (all: readonly Figures[], contestant: Contestant, load: string): readonly Figures[] =>
  all.filter((one) => one.contestant === contestant && one.load === load);

const comparison = (all: readonly Figures[], loads: readonly string[]): string =>
  table(
    ["", "", ...contestants, ...contestants.slice(1).map((one) => `${one}: ratio`)],
    loads.flatMap((load) =>
      measures.map(([title, measure]) => {
        const figures = contestants.map((contestant) => of(all, contestant, load).map(measure));
        const [theirs = [], ...ours] = figures;
        const columns = [...figures, ...ours.map((some) => ratios(some, theirs))];
        return [load, title, ...columns.map((some) => range(spread(some)))];
      }),
    ),
    2,
  );

const callsBy = (all: readonly Figures[], load: string): string =>
  countTable(
    contestants,
    contestants.map((contestant) => of(all, contestant, load).at(-1)?.requests ?? {}),
  );
