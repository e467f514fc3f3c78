import { pseudoRandom, type PseudoRandom } from "@drover/random";
import {
  type FaultKind,
  type FrameFault,
  isFrameFaultKind,
  isListFault,
  type RequestFault,
  type Schedule,
  silentFaults,
  type Step,
} from "./schedule.ts";

/** One in so many schedules is about silence: each of them takes a minute. */
const seldom = 80;
/** A wait that never ends: only a new bridge, which does not know of it, comes sooner. */
const forEver = "1000000000";

/** Schedule number `index` of a seed, made of some of the faults that are given. */
export function randomSchedule(seed: number, index: number, kinds: readonly FaultKind[], most = 3): Schedule {
  const dice = pseudoRandom(seed, index);
  const chosen = choose(dice, kinds, most);
  const needsLists = chosen.some((kind) => kind.startsWith("list-"));
  // A `continue` is asked for where there are two pages.
  const needsPages = chosen.includes("list-410");
  const objects = dice.between(6, 20);
  const steps = chosen.flatMap((kind, i): Step[] => [
    ...(dice.chance(0.7) ? [{ do: "settle" as const }] : []),
    ...around(dice, kind, i < chosen.length - 1),
    ...(dice.chance(0.3) ? [{ do: "changes" as const, changes: dice.between(1, 8) }] : []),
  ]);
  return {
    objects,
    initial: dice.between(needsPages ? 3 : 0, objects),
    load: dice.between(0, 2 ** 31),
    pace: dice.oneOf([0, 5, 20]),
    linger: dice.oneOf([0, 0, 15, 120]),
    page: needsPages ? 1 : needsLists ? dice.between(1, 4) : dice.oneOf([0, 2, 5]),
    watchList: dice.chance(0.6),
    pieces: dice.chance(0.3) ? dice.oneOf([1, 7, 100]) : 0,
    steps: begun(dice, steps),
    references: dice.chance(0.4),
  };
}

/**
 * Mostly the bridge is started first; sometimes the first fault is armed before it. A wait for ever is never armed
 * before it: the kill that ends the wait must come after the fault was met, however slowly the bridge starts.
 */
function begun(dice: PseudoRandom, steps: readonly Step[]): Step[] {
  const start: Step = { do: "bridge-start" };
  const [first, ...others] = steps;
  const isArmedFirst = first !== undefined && "beside" in first && dice.chance(0.4);
  if (!isArmedFirst || waitsForEver(first)) return [start, ...steps];
  return [{ ...first, beside: true }, start, ...others];
}

/** True if the step asks a bridge for a wait that only a kill ends. */
export const waitsForEver = (step: Step): boolean => "retryAfter" in step && step.retryAfter === forEver;

function choose(dice: PseudoRandom, kinds: readonly FaultKind[], most: number): FaultKind[] {
  const silent = kinds.filter((kind) => silentFaults.includes(kind));
  const quick = kinds.filter((kind) => !silentFaults.includes(kind));
  if (silent.length > 0 && (quick.length === 0 || dice.between(1, seldom) === 1)) return [dice.oneOf(silent)];
  const chosen = Array.from({ length: dice.between(1, most) }, () => dice.oneOf(quick));
  const mayKill = quick.includes("bridge-kill") && !chosen.includes("bridge-kill");
  if (mayKill && dice.chance(0.3)) chosen.splice(dice.between(0, chosen.length), 0, "bridge-kill");
  return chosen;
}

/** A fault, and what belongs to it. */
function around(dice: PseudoRandom, kind: FaultKind, mayGoOn: boolean): Step[] {
  const step = faultOf(dice, kind, mayGoOn && dice.chance(0.25));
  if (!waitsForEver(step)) return [step];
  return [
    { ...step, beside: false } as Step,
    { ...killed(dice), at: "event", nth: 0, after: dice.between(800, 2_500) },
  ];
}

function faultOf(dice: PseudoRandom, kind: FaultKind, beside: boolean): Step {
  const during = { changes: dice.between(0, 12), beside };
  if (kind === "refuse") return { do: kind, for: dice.between(50, 2_500), ...during };
  if (kind === "bridge-kill") return { ...killed(dice), beside };
  return isFrameFaultKind(kind) ? atFrame(dice, kind, beside) : atRequest(dice, kind, during);
}

/** Many die within the few milliseconds in which an event or a page arrives. */
function killed(dice: PseudoRandom): Extract<Step, { do: "bridge-kill" }> {
  const at = dice.oneOf(["event", "event", "page"] as const);
  return {
    do: "bridge-kill",
    at,
    nth: at === "event" ? dice.between(0, 10) : dice.between(1, 5),
    after: dice.oneOf([
      0,
      dice.between(0, 5),
      dice.between(0, 10),
      dice.between(0, 40),
      dice.between(0, 1_500),
    ]),
    down: dice.oneOf([0, dice.between(0, 1_000), dice.between(1_000, 4_000)]),
    changes: dice.between(0, 15),
    meanwhile: dice.between(0, 25),
  };
}

/** There are changes enough for the fault to be met, and some to come after it. */
function atFrame(dice: PseudoRandom, kind: FrameFault["do"], beside: boolean): FrameFault {
  const frame = dice.between(1, 6);
  const often: readonly FrameFault["do"][] = ["frame-repeat", "frame-replay", "frame-swallow", "frame-huge"];
  const times = often.includes(kind) ? dice.between(1, 4) : dice.oneOf([1, 1, 2]);
  return { do: kind, frame, times, changes: frame + times + dice.between(0, 6), beside };
}

function atRequest(
  dice: PseudoRandom,
  kind: RequestFault["do"],
  during: { readonly changes: number; readonly beside: boolean },
): RequestFault {
  return {
    do: kind,
    times: timesOf(dice, kind),
    for: kind === "all-401" ? dice.between(100, 2_000) : dice.oneOf([0, dice.between(0, 1_500)]),
    ending: dice.oneOf(["end", "reset"]),
    ...(kind === "list-endless" ? { cycle: dice.oneOf([0, 1, 2, 3]) } : {}),
    ...retryAfter(dice, kind),
    ...during,
  };
}

function timesOf(dice: PseudoRandom, kind: RequestFault["do"]): number {
  if (kind.endsWith("-hang") || kind === "all-401") return 1;
  if (kind === "watch-closes") return dice.between(2, 4);
  if (kind === "list-endless") return dice.between(2, 40);
  return isListFault(kind) ? dice.between(1, 2) : dice.between(1, 3);
}

function retryAfter(dice: PseudoRandom, kind: RequestFault["do"]): Pick<RequestFault, "retryAfter"> {
  const mayAsk = kind.endsWith("-429") ? 0.8 : /-50[03]$/.test(kind) ? 0.3 : 0;
  if (!dice.chance(mayAsk)) return {};
  const date = { date: dice.between(1, 3) };
  return { retryAfter: dice.oneOf(["0", "1", "2", "3", date, date, "-1", "soon", forEver]) };
}
