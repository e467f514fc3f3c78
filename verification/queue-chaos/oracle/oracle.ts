import type { Milliseconds } from "@drover/controller";
import type { Violation } from "../../harness/report-violations.ts";
import type { Fact, Loss } from "./facts.ts";
import { type RunRecord, runsOf } from "./runs-of.ts";

export interface Expectations {
  readonly times: {
    readonly lease: Milliseconds;
    readonly firstBackoff: Milliseconds;
    readonly longestBackoff: Milliseconds;
  };
  readonly keys: number;
  /** How many runs all workers can have under way. */
  readonly slots: number;
}

/** A time within which a fault may have taken something from the ledger. */
interface LossSpan {
  readonly loses: Exclude<Loss, "nothing">;
  readonly from: Milliseconds;
  readonly to: Milliseconds;
}

/** Facts that must not be. Facts that must come and do not are found by `run-schedule.ts`, which waits for them. */
export function violationsIn(facts: readonly Fact[], expected: Expectations): readonly Violation[] {
  const losses = lossesIn(facts);
  const perKey = [...runsOf(facts)].flatMap(([key, runs]) =>
    [
      ...overlaps(runs, losses, expected.times.lease),
      ...staleSettles(runs, losses, restartsIn(facts), expected.times.lease),
      ...hastyRetries(runs, losses, expected.times),
      ...causelessRuns(key, runs, facts, losses),
    ].map((violation) => ({ ...violation, key })),
  );
  return [...perKey, ...repeatedTokens(facts), ...crashes(facts), ...tooManyJobs(facts, expected)];
}

function lossesIn(facts: readonly Fact[]): readonly LossSpan[] {
  const spans: LossSpan[] = [];
  let from: Milliseconds | undefined;
  for (const fact of facts) {
    if (fact.fact !== "fault" || fact.loses === "nothing") continue;
    if (fact.phase === "begins") from = fact.at;
    else if (from !== undefined) spans.push({ loses: fact.loses, from, to: fact.at });
  }
  return spans;
}

/** When Redis was started again, with its data. */
const restartsIn = (facts: readonly Fact[]): readonly Milliseconds[] =>
  facts.flatMap((fact) =>
    fact.fact === "fault" &&
    fact.phase === "begins" &&
    (fact.kind === "redis-kill" || fact.kind === "redis-loading")
      ? [fact.at]
      : [],
  );

/**
 * I3. No two runs of a key have both written while both were under way: between the start of each and its last write
 * there is no start-to-last-write of another. Where keys of the ledger were changed, what it knew of a lease may be gone.
 */
function overlaps(
  runs: readonly RunRecord[],
  losses: readonly LossSpan[],
  lease: Milliseconds,
): readonly Violation[] {
  const wrote = runs.flatMap((run) => {
    const last = run.effects.at(-1);
    return last === undefined ? [] : [{ run, from: run.startedAt, to: last }];
  });
  return wrote.flatMap(({ run, from, to }, i) =>
    wrote.slice(i + 1).flatMap((other) => {
      if (other.from > to || other.to < from) return [];
      const broken = losses.find(
        (loss) => loss.loses === "integrity" && loss.to + lease > other.from && loss.from < to,
      );
      if (broken !== undefined) return [];
      const after = losses.find((loss) => loss.from < other.from && loss.to + lease > from);
      return [
        {
          rule: "I3",
          what:
            `${name(run)} wrote until ${at(to)}, and ${name(other.run)} wrote from ${at(other.from)} on` +
            (after === undefined ? "" : `, after Redis lost data at ${at(after.from)}`),
        },
      ];
    }),
  );
}

/**
 * I4. A run is not settled when another one of its key wrote between its start and its end: that one held the lease. But
 * for a server that has just been started: it takes the outcome of a run that is not in its data, since they may
 * lack a tail, and has the key looked at once more.
 */
function staleSettles(
  runs: readonly RunRecord[],
  losses: readonly LossSpan[],
  restarts: readonly Milliseconds[],
  lease: Milliseconds,
): readonly Violation[] {
  return runs.flatMap((run) => {
    const { endedAt, settledAt, startedAt } = run;
    // A hanging run was settled before its handler came back; when exactly is unknown.
    if (endedAt === undefined || settledAt === undefined || settledAt < endedAt) return [];
    if (losses.some(({ from, to }) => from < settledAt && to + lease > startedAt)) return [];
    if (restarts.some((at) => at > startedAt && at < settledAt)) return [];
    const thief = runs.find(
      (other) => other !== run && other.effects.some((effect) => effect > startedAt && effect < endedAt),
    );
    if (thief === undefined) return [];
    return [
      { rule: "I4", what: `${name(run)} was settled, though ${name(thief)} held its key before it ended` },
    ];
  });
}

/**
 * I7. A window opens with a failure, and at most one wake pierces it. So of four runs in a row that fail, two stand at
 * the two ends of a window. The n-th failure in a row opens at least the window of half as many, half as long for
 * jitter.
 */
function hastyRetries(
  runs: readonly RunRecord[],
  losses: readonly LossSpan[],
  { firstBackoff, longestBackoff }: Expectations["times"],
): readonly Violation[] {
  let row: RunRecord[] = [];
  const violations: Violation[] = [];
  for (const run of runs) {
    const previous = row.at(-1)?.startedAt ?? run.startedAt;
    if (losses.some(({ from, to }) => to >= previous && from <= run.startedAt)) row = [];
    const outcome = run.settled ?? run.outcome;
    if (outcome === "interrupted") continue;
    row.push(run);
    const fourth = row.at(-4);
    if (fourth !== undefined) {
      const failures = row.slice(0, -4).filter(({ settled }) => settled === "retry").length;
      const fails = Math.max(1, Math.ceil(failures / 2));
      const least = Math.min(longestBackoff, firstBackoff * 2 ** (fails - 1)) / 2 - clockStep;
      const took = run.startedAt - fourth.startedAt;
      if (took < least) {
        violations.push({
          rule: "I7",
          what: `failed four times within ${took.toFixed(1)} ms from ${at(fourth.startedAt)} on, with a backoff window of at least ${least} ms`,
        });
      }
    }
    if (outcome !== undefined && outcome !== "retry") row = [];
  }
  return violations.slice(0, 1);
}

/** Redis time is taken in whole milliseconds, at both ends. */
const clockStep = 2;

/**
 * I6. A run has a cause: a wake that came after the last run began, a outcome that asks for another run, or an end of the
 * last run that may not have reached the queue.
 */
function causelessRuns(
  key: string,
  runs: readonly RunRecord[],
  facts: readonly Fact[],
  losses: readonly LossSpan[],
): readonly Violation[] {
  if (losses.length > 0) return [];
  const wakes = wakesOf(key, facts);
  // A handler that is called late, after its lease was lost, has not happened.
  const effective = runs.filter(({ effects }) => effects.length > 0);
  return effective.flatMap((run, i) => {
    const last = effective[i - 1];
    if (last?.settledAt === undefined || last.settledAt > run.startedAt) return [];
    const rests = last.settled === "terminal" || (last.settled === "done" && !last.again);
    // A claim that was lost on the way, or whose process died before its handler began, was a run to the queue.
    const { startedAt } = last;
    const woken = wakes.some(
      ({ sent, known }) => sent <= run.startedAt && known >= startedAt - beforeHandler,
    );
    if (!rests || woken) return [];
    return [
      {
        rule: "I6",
        what: `${name(run)} had no reason to run: ${name(last)} came to ${last.settled}, and no wake came`,
      },
    ];
  });
}

/** How long a claim's answer may be under way before its handler is called and takes the time. */
const beforeHandler: Milliseconds = 1_000;

function wakesOf(
  key: string,
  facts: readonly Fact[],
): readonly { sent: Milliseconds; known: Milliseconds }[] {
  const open = new Map<number, { sent: Milliseconds; known: Milliseconds }>();
  for (const fact of facts) {
    if (fact.fact === "requested" && key in fact.wakes)
      open.set(fact.batch, { sent: fact.at, known: Infinity });
    const wake = fact.fact === "acknowledged" ? open.get(fact.batch) : undefined;
    if (wake !== undefined) wake.known = fact.at;
  }
  return [...open.values()];
}

/** I13. A token is made once, and given to one run. */
function repeatedTokens(facts: readonly Fact[]): readonly Violation[] {
  const seen = new Set<string>();
  return facts.flatMap((fact) => {
    if (fact.fact !== "started") return [];
    if (!seen.has(fact.token)) {
      seen.add(fact.token);
      return [];
    }
    return [{ rule: "I13", key: fact.key, what: `token ${fact.token} was given to a second run` }];
  });
}

/** I17. No process ends but by SIGKILL, or in order after SIGTERM. */
const crashes = (facts: readonly Fact[]): readonly Violation[] =>
  facts.flatMap((fact) =>
    fact.fact === "exited" && !fact.wanted
      ? [{ rule: "I17", what: `${fact.process} ended with ${fact.how}, which was not asked for` }]
      : [],
  );

/**
 * I14. A key has one job waiting, and one more where a bell was late. If its worker died, or its connection broke while BullMQ handed it out, a
 * job stays active until BullMQ checks. So does a forged job whose run failed: its job asks
 * BullMQ to keep it with no bound on how many, and that is refused.
 */
function tooManyJobs(facts: readonly Fact[], { keys, slots }: Expectations): readonly Violation[] {
  let stranded = 0;
  let forged = 0;
  return facts.flatMap((fact) => {
    if (fact.fact === "exited") stranded += slots;
    if (fact.fact === "fault" && fact.kind === "jobs-forge") forged = Infinity;
    const hasFailed = fact.fact === "ended" && (fact.outcome === "retry" || fact.outcome === "terminal");
    if (hasFailed && forged > 0) stranded++;
    if (fact.fact === "fault" && fact.phase === "begins")
      stranded += (fact.kind === "redis-cut" ? 8 : 1) * slots;
    if (fact.fact !== "jobs") return [];
    const { waiting, active } = fact;
    if (waiting <= 2 * keys + forged && active <= slots + stranded) return [];
    return [{ rule: "I14", what: `${waiting} jobs wait and ${active} are active, for ${keys} keys` }];
  });
}

const at = (time: Milliseconds): string => `${time.toFixed(1)} ms`;
const name = ({ token, process }: RunRecord): string => `run ${token.slice(0, 8)} in ${process}`;
