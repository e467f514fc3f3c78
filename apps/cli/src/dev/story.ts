import { oneLine } from "@drover/controller";
import { shortDuration } from "../short-duration.ts";
import { type LogLine, takesKeys } from "./log-line.ts";

/** When a key runs next, as words. */
export type NextRun = (key: string) => Promise<string>;

/** Prints what happens, in order: messages of the command, the function's own log, and a line for each run. */
export interface Story {
  /** Prints a message of the command. Further lines of it are indented. */
  print(text: string): void;
  /** A line of the function's output. */
  output(text: string): void;
  /** A line of the function's log, or of the log of its calls. */
  log(line: LogLine): void;
  /** Resolves when all has been printed. */
  done(): Promise<void>;
}

/** Lines of the runtime about its process, which the command reports in other words. */
const ofProcess = /^(Serving \/healthz|Stopping: |Stopped$)/;
/** The lines with which the runtime reports a failed run before the one that all runs have. */
const ofFailure = /^(The run did not complete|The run failed)$/;
/** The lines with which the runtime ends a run: of a function that takes keys itself, and of one that is called. */
const ofRun = /^(Reconciled|Called)$/;

/** The outcomes of a run that may not call the function. */
const didNothing: readonly string[] = ["paused", "wait"];

const verdicts: Readonly<Record<string, string>> = {
  done: "done",
  wait: "not done yet",
  retry: "failed",
  conflict: "another client changed the object",
  terminal: "failed for good",
  paused: "paused",
  gone: "the object is gone",
  interrupted: "interrupted",
  throttled: "throttled",
};

/** The indentation of what belongs to the line above, as wide as the time and the kind of a line. */
const indent = " ".repeat(17);

/**
 * @param write prints a line.
 * @param nextRun is asked after each run.
 * @param isHeld true for a key that may not run yet: runs of it that did nothing are left out. Default: none is held.
 */
export function openStory(
  write: (line: string) => void,
  nextRun: NextRun,
  isHeld: (key: string) => boolean = () => false,
): Story {
  const written = new Map<string, Set<string>>();
  const failures = new Map<string, LogLine>();
  let last = Promise.resolve();
  const inOrder = (lines: readonly string[] | Promise<readonly string[]>): void => {
    last = last.then(async () => (await lines).forEach(write));
  };
  const ran = async (line: LogLine, time: string): Promise<readonly string[]> => {
    const { key = "", verdict = "", ms = 0, why = [] } = line;
    const [wrote, failure] = [[...(written.get(key) ?? [])], failures.get(key)];
    written.delete(key);
    failures.delete(key);
    const error = failure?.err?.message;
    const words = [
      `${key} ${verdicts[verdict] ?? verdict} in ${shortDuration(ms)}${error === undefined ? "" : `: ${error}`}`,
      `because: ${why.length === 0 ? "its time came" : why.join(", ")}`,
      wrote.length === 0 ? "wrote nothing" : `wrote ${wrote.join(", ")}`,
      await nextRun(key),
    ];
    return [`${time} run    ${oneLine(words.filter((word) => word !== "").join("; "))}`, ...stackOf(failure)];
  };
  return {
    print(text) {
      const [first = "", ...more] = text.split("\n");
      inOrder([
        `${clock()} drover ${oneLine(first)}`,
        ...more.map((line) => `${indent.slice(1)}${oneLine(line)}`),
      ]);
    },
    output: (text) => inOrder([`${clock()} out    ${oneLine(text)}`]),
    log(line) {
      const { msg, key, level } = line;
      const time = clock();
      if (msg === takesKeys) {
        // The process before it may have been killed in a run.
        written.clear();
        failures.clear();
      } else if (key !== undefined && line.verdict !== undefined && ofRun.test(msg)) {
        if (!didNothing.includes(line.verdict) || !isHeld(key)) inOrder(ran(line, time));
      } else if (key !== undefined && line.wrote !== undefined) {
        written.set(key, (written.get(key) ?? new Set()).add(line.wrote));
      } else if (key !== undefined && ofFailure.test(msg)) failures.set(key, line);
      else if (level !== "debug" && !ofProcess.test(msg)) inOrder(logged(line, time));
    },
    done: () => last,
  };
}

/** Local time, as `14:03:22`. */
const clock = (): string => new Date().toTimeString().slice(0, 8);

function logged(line: LogLine, time: string): readonly string[] {
  const { level, msg, err: _, time: __, process: ___, ...fields } = line;
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [`${time} ${level.padEnd(6)} ${oneLine(msg + shown.join(""))}`, ...stackOf(line)];
}

function stackOf(line: LogLine | undefined): readonly string[] {
  const { stack, message } = line?.err ?? {};
  const text = stack ?? message;
  return text === undefined ? [] : text.split("\n").map((each) => indent + oneLine(each.trimEnd()));
}
