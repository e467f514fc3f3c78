import { conditionOf } from "../object-conditions.ts";
import { isoTime } from "../iso-time.ts";
import { describePauses } from "../describe-pauses.ts";
import { shortDuration } from "../short-duration.ts";
import type { KeyFacts } from "./key-facts.ts";

/** Explains in one sentence why an object runs or does not, and when it runs next, if that is known. */
export interface Explanation {
  readonly summary: string;
  /** ISO 8601, by Redis' clock; undefined if no time is set. */
  readonly nextRunAt: string | undefined;
}

/** Explains a key's state to a user. */
export function explanationOf(facts: KeyFacts): Explanation {
  const { report, now } = facts;
  const name = `${facts.kind} ${facts.key}`;
  const nextRunAt =
    report.state === "waits"
      ? Math.max(report.at, report.accountOpens)
      : isThrottled(facts)
        ? report.accountOpens
        : 0;
  return {
    summary: `${name} ${sentence(facts)}`,
    nextRunAt: nextRunAt > now ? isoTime(nextRunAt) : undefined,
  };
}

const isThrottled = ({ report, now }: KeyFacts): boolean =>
  (report.state === "ready" || report.state === "dispatched") && report.accountOpens > now;

function sentence(facts: KeyFacts): string {
  const { report, now } = facts;
  const isPaused = report.pauses.length > 0;
  const paused = describePause(facts);
  switch (report.state) {
    case "unknown":
      return unknown(facts);
    case "idle":
      return isPaused
        ? `is idle, and does not run when it changes: ${paused}.`
        : "is idle: nothing is due. It runs when it changes.";
    case "leased":
      return `runs now: a worker holds it, for at least another ${shortDuration(report.at - now)}.`;
    case "parked":
      return parked(facts);
    case "waits":
      // While no dispatcher runs, a key stays in this state after its time has come.
      if (report.at > now) return waits(facts);
      break;
    case "ready":
    case "dispatched":
    case "paused":
  }
  return isPaused ? `is due, and does not run: ${paused}.` : due(facts, report.at);
}

function unknown(facts: KeyFacts): string {
  const { object, fn } = facts;
  if (object === undefined) return "does not exist, and is not in the queue.";
  const paused = describePause(facts);
  if (paused !== "") return `does not run: ${paused}.`;
  const problem = fn.status.problem;
  return problem === undefined
    ? `is not in the ledger: the bridge has not queued it yet, or the namespaces or labels of ${fn.name} exclude it.`
    : `is not in the ledger: ${fn.name} is not in use: ${problem}`;
}

function parked(facts: KeyFacts): string {
  const { report } = facts;
  const paused = describePause(facts);
  const held = paused === "" ? "" : ` (then it does not run, because ${paused})`;
  const suffix = report.error === undefined ? held : `${held}: ${report.error}`;
  return report.why === "backoff"
    ? `is parked after ${times(report.fails)}, until it changes${suffix}`
    : `is parked until it changes, because its last run ended with a terminal error${suffix}`;
}

function waits(facts: KeyFacts): string {
  const { report, now, runs } = facts;
  const left = shortDuration(report.at - now);
  const paused = describePause(facts);
  const held = paused === "" ? "" : ` Then it does not run, because ${paused}.`;
  const suffix = report.error === undefined ? "." : `: ${report.error}`;
  switch (report.why ?? "wait") {
    case "backoff":
      return `is tried again in ${left}, after ${times(report.fails)}; a change makes it run at once${suffix}${held}`;
    case "lease ended":
      return `is tried again in ${left}: its worker died during its last ${report.fails} runs.${held}`;
    case "again":
      return `is reconciled, and runs again in ${left}: for its resync, or because its last run asked for it.${held}`;
    case "batch":
      return `is due in ${left}: after a change, which waits for further ones.${held}`;
    case "conflict":
      return `is tried again in ${left}: another client changed it during its last run.${held}`;
    case "newer function":
      return `waits for a Pod of the newer version of its function, which has run it before.${held}`;
    default:
      return `is not done, and its last run asked to run again in ${left}${errorSuffix(runs[0]?.error)}${held}`;
  }
}

function due(facts: KeyFacts, since: number): string {
  const { report, now, fn, stats } = facts;
  const waited = shortDuration(now - since);
  if (isThrottled(facts)) {
    const { account = "" } = report;
    return `is due, and waits for its account ${account}, which is throttled for another ${shortDuration(report.accountOpens - now)}.`;
  }
  const { container } = fn.spec;
  if (container !== undefined && (fn.status.readyReplicas ?? 0) === 0) {
    const { reason = "", message = "" } = conditionOf(fn.object) ?? {};
    return `has been due for ${waited}, and waits for a Pod of ${fn.name}: none is Ready (${reason}: ${message})`;
  }
  return `has been due for ${waited}, and waits for a free worker: ${stats.due} are due and ${stats.running} run.`;
}

/** The pauses that hold it back, and its deletion with it. */
function describePause({ fn, key, report, now, object }: KeyFacts): string {
  const words = describePauses(fn, key, report.pauses, now);
  const isDeleting = words !== "" && object?.metadata.deletionTimestamp !== undefined;
  return isDeleting ? `${words}; it is being deleted, and finalize waits for the resume` : words;
}

const times = (fails: number): string => (fails === 1 ? "1 failure" : `${fails} failures in a row`);
const errorSuffix = (error: string | undefined): string => (error === undefined ? "." : `: ${error}`);
