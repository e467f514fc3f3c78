import { type ContenderName, titles } from "../contenders/contender.ts";
import type { WhereTimeGoes } from "../questions/where-time-goes.ts";
import type { Results } from "../results.ts";
import { figure, table } from "../../report/markdown.ts";
import { perContender } from "./select.ts";

const names = perContender((name) => titles[name]);
const of = (time: readonly WhereTimeGoes[], name: ContenderName): WhereTimeGoes | undefined =>
  time.find((each) => each.contender === name);
/** The row above the commands. */
const wholeProcess = "CPU of the process";
/** Less than this many µs per run is not worth a line. */
const least = 0.5;

/** µs of the worker process per run, by the owner of the code. */
export const workerTime = ({ time }: Results): string =>
  table(
    ["code of", ...names],
    rowsOf(time, ({ worker, runs }) => worker.owners.map(({ name, time }) => [name, time / runs])).map(
      ({ name, figures }) => [name, ...figures.map(figure)],
    ),
  );

/** The functions that took most of it, of one contender. */
export const hotFunctions = ({ time }: Results, name: ContenderName): string => {
  const found = of(time, name);
  return table(
    [`function (${titles[name]})`, "µs per run"],
    (found?.worker.functions ?? [])
      .slice(0, 15)
      .map((each) => [`\`${each.name}\``, figure(each.time / (found?.runs ?? NaN))]),
  );
};

/** What the server did per run: calls, µs in them, and one call's p99. A script's time contains that of its commands. */
export const serverTime = ({ time }: Results): string =>
  table(
    ["command", ...names.flatMap((name) => [`${name}: calls`, "µs", "p99"])],
    rowsOf(time, ({ server, runs, serverCpu }) => [
      [wholeProcess, serverCpu / runs],
      ...server.map(({ command, time }) => [command, time / runs] as const),
    ]).map(({ name, figures }) => [
      name,
      ...perContender((contender) => commandOf(of(time, contender), name)).flatMap(({ calls, p99 }, i) => [
        figure(calls),
        figure(figures[i] ?? NaN),
        figure(p99),
      ]),
    ]),
  );

function commandOf(found: WhereTimeGoes | undefined, name: string): { calls: number; p99: number } {
  const { calls = NaN, p99 = NaN } = found?.server.find(({ command }) => command === name) ?? {};
  return { calls: calls / (found?.runs ?? NaN), p99 };
}

/** Rows that matter, the most expensive for Drover first. */
function rowsOf(
  time: readonly WhereTimeGoes[],
  sharesOf: (of: WhereTimeGoes) => readonly (readonly [string, number])[],
): { name: string; figures: number[] }[] {
  const shares = perContender((name) => {
    const found = of(time, name);
    return new Map(found === undefined ? [] : sharesOf(found));
  });
  const rows = [...new Set(shares.flatMap((each) => [...each.keys()]))].map((name) => ({
    name,
    figures: shares.map((each) => each.get(name) ?? NaN),
  }));
  return rows
    .filter(({ figures }) => figures.some((each) => each >= least))
    .sort((a, b) => rank(b) - rank(a));
}

const rank = ({ name, figures: [ours = NaN] }: { name: string; figures: number[] }): number =>
  name === wholeProcess ? Infinity : ours || 0;
