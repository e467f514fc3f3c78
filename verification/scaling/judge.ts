import type { JournalLine } from "./loads.ts";

/** A Pod's process that was killed, and when. */
export interface Kill {
  readonly pod: string;
  readonly at: number;
}

/**
 * Violations in the log: no key runs twice at once, and no change is worked on twice. A run that was
 * killed with its process may be done again, even when it had ended without a settled outcome.
 *
 * @param lines in the order in which they were written.
 */
export function violationsIn(lines: readonly JournalLine[], kills: readonly Kill[]): readonly string[] {
  const byKey = Map.groupBy(lines, ({ key }) => key);
  return [...byKey].flatMap(([key, of]) => [...overlaps(key, of, kills), ...repeats(key, of, kills)]);
}

function overlaps(key: string, lines: readonly JournalLine[], kills: readonly Kill[]): readonly string[] {
  const found: string[] = [];
  let running: JournalLine | undefined;
  for (const line of lines) {
    if (line.what === "begins") {
      if (running !== undefined && !wasKilled(running, kills, line.at)) {
        found.push(`${key}: ${line.by} began at ${line.at}, while ${running.by} ran it since ${running.at}`);
      }
      running = line;
    } else if (running?.by === line.by) running = undefined;
  }
  return found;
}

function repeats(key: string, lines: readonly JournalLine[], kills: readonly Kill[]): readonly string[] {
  const ends = lines.filter(({ what }) => what === "ends");
  return [...Map.groupBy(ends, ({ n }) => n)].flatMap(([n, of]) => {
    const excused = of.slice(0, -1).filter((line) => wasKilled(line, kills, Infinity)).length;
    return of.length - excused > 1 ? [`${key}: change ${n} was worked on ${of.length} times`] : [];
  });
}

/** True if the Pod that wrote a line was killed after it, and before `until`. */
const wasKilled = ({ by, at }: JournalLine, kills: readonly Kill[], until: number): boolean =>
  kills.some((kill) => kill.pod === by && kill.at >= at && kill.at <= until);
