import { spread } from "../../../verification/harness/spread.ts";
import { figure, range, table } from "../../report/markdown.ts";
import { ratios } from "../../report/ratios.ts";
import { percent } from "./units.ts";
import { type ReplayFigures, type ReplayRound, readers } from "../questions/replay.ts";

const total = ({ cpu }: ReplayRound): number => Object.values(cpu).reduce((a, b) => a + b, 0);
const ours = "bridge";

export const replayed = ({ rounds }: ReplayFigures): string =>
  table(
    [
      "",
      "events/s",
      "CPU µs per event",
      "of these",
      "our CPU beside it, times",
      "our speed beside it, times",
      "others busy",
    ],
    readers.flatMap((reader) => {
      const theirs = rounds.filter((round) => round.reader === reader);
      if (theirs.length === 0) return [];
      return [
        [
          reader,
          range(spread(theirs.map(({ eventsPerSecond }) => eventsPerSecond))),
          range(spread(theirs.map(total))),
          parts(theirs),
          ratio(rounds, theirs, total),
          ratio(rounds, theirs, (round) => round.eventsPerSecond),
          percent(spread(theirs.map(({ others }) => others)).median),
        ],
      ];
    }),
  );

function parts(rounds: readonly ReplayRound[]): string {
  const names = Object.keys(rounds[0]?.cpu ?? {});
  if (names.length < 2) return "";
  return names
    .map((name) => `${name} ${figure(spread(rounds.map(({ cpu }) => cpu[name] ?? NaN)).median)}`)
    .join(", ");
}

/** Ours to theirs, round by round. */
function ratio(
  all: readonly ReplayRound[],
  theirs: readonly ReplayRound[],
  what: (round: ReplayRound) => number,
): string {
  if (theirs[0]?.reader === ours) return "";
  const mine = all.filter(({ reader }) => reader === ours);
  return range(spread(ratios(mine.map(what), theirs.map(what))));
}
