import type { Milliseconds } from "@drover/controller";
import type { Violation } from "../../harness/report-violations.ts";
import type { Answered, Asked, Fact } from "./facts.ts";

/** A request may cross an answer for this long. */
const underWay: Milliseconds = 150;
/** Timers and dates are not exact to the millisecond. */
const early: Milliseconds = 20;
/** Requests that were a second apart where they were made may be less so where they arrive. */
const jitter: Milliseconds = 500;

interface Request extends Asked {
  readonly at: Milliseconds;
  readonly answer: (Answered & { readonly at: Milliseconds }) | undefined;
}

/** I18. What a bridge asked an API server that had asked to be left alone, or had just ended its watch. */
export function earlyRequests(facts: readonly Fact[]): readonly Violation[] {
  const answers = new Map(facts.flatMap((fact) => (fact.fact === "answered" ? [[fact.id, fact]] : [])));
  const requests = facts.flatMap((fact): Request[] =>
    fact.fact === "asked" && fact.verb !== "other" ? [{ ...fact, answer: answers.get(fact.id) }] : [],
  );
  const streams = Map.groupBy(requests, ({ life, path }) => `${life} ${path}`);
  return [...streams.values()].flatMap((stream) => [...insideRetryAfter(stream), ...hotReconnects(stream)]);
}

function insideRetryAfter(requests: readonly Request[]): readonly Violation[] {
  return requests.flatMap(({ answer }) => {
    const until = answer?.closedUntil;
    if (answer === undefined || until === undefined) return [];
    const rash = requests.find(({ at }) => at > answer.at + underWay && at < until - early);
    if (rash === undefined) return [];
    return [
      {
        rule: "I18",
        what:
          `was asked at ${ms(answer.at)} not to come before ${ms(until)}, and came at ${ms(rash.at)} ` +
          `for a ${rash.verb}`,
      },
    ];
  });
}

/** A watch a second, one more to begin with. What comes after a 401 at once, with new credentials, is the same one. */
function hotReconnects(requests: readonly Request[]): readonly Violation[] {
  const watches = requests.filter(({ verb, answer }) =>
    verb === "watch" ? answer?.status !== 401 : verb === "stream" && !isNo(answer?.status),
  );
  for (const [i, first] of watches.entries()) {
    for (const [j, last] of watches.entries()) {
      const span = last.at - first.at;
      if (j <= i || span >= (j - i) * 1_000 - jitter) continue;
      return [{ rule: "I18", what: `${j - i + 1} watches within ${ms(span)}, from ${ms(first.at)} on` }];
    }
  }
  return [];
}

/** A server that does not stream lists is asked for a plain one instead. */
const isNo = (status: number | undefined): boolean => status === 401 || status === 422 || status === 400;

const ms = (time: Milliseconds): string => `${time.toFixed(0)} ms`;
