import type { ProxiedCall } from "../calls/proxied-call.ts";
import type { CallFault, EventFault } from "./faults.ts";
import type { PseudoRandom } from "@drover/random";

/** Makes a fault, with what is left to chance in it. */
type Making<Fault> = Readonly<Record<string, (dice: PseudoRandom) => Fault>>;

const callFaults = {
  conflict: () => ({ do: "refuse", status: 409 }),
  "too many requests": () => ({ do: "refuse", status: 429, retryAfter: 1 }),
  "server error": (dice) => ({ do: "refuse", status: dice.oneOf([500, 503, 504]) }),
  expired: () => ({ do: "refuse", status: 410 }),
  reset: () => ({ do: "reset" }),
  "lose answer": () => ({ do: "lose answer" }),
  delay: (dice) => ({ do: "delay", for: dice.between(1, 500) }),
  hang: () => ({ do: "hang" }),
  "hang after": () => ({ do: "hang after" }),
  "kill before": () => ({ do: "kill", when: "before" }),
  "kill after": () => ({ do: "kill", when: "after" }),
} satisfies Making<CallFault>;
const eventFaults = {
  "event delay": (dice) => ({ do: "delay", for: dice.between(1, 500) }),
  "event duplicate": () => ({ do: "duplicate" }),
  "event cut": () => ({ do: "cut" }),
  "event error": () => ({ do: "error", code: 500 }),
  "event expired": () => ({ do: "error", code: 410 }),
  "event garbage": () => ({ do: "garbage" }),
  "event swallow": () => ({ do: "swallow" }),
  "event fall silent": () => ({ do: "fall silent" }),
} satisfies Making<EventFault>;
type CallKind = keyof typeof callFaults;
type EventKind = keyof typeof eventFaults;

const namesOf = <Name extends string>(table: Readonly<Record<Name, unknown>>) => Object.keys(table) as Name[];
const callKinds = namesOf(callFaults);
const eventKinds = namesOf(eventFaults);

/** The faults that a seed may choose from, by their names in a plan. */
export const randomKinds: readonly RandomKind[] = [...callKinds, ...eventKinds];
export type RandomKind = CallKind | EventKind;

/** Faults that happen in every cluster, and that a correct client survives without a restart. */
export const defaultKinds: readonly RandomKind[] = [
  ...(["conflict", "too many requests", "server error", "expired", "reset", "lose answer", "delay"] as const),
  ...(["event delay", "event duplicate", "event cut", "event expired"] as const),
];

/** A fault of one of the kinds that fit a call; undefined if none does. */
export function randomCallFault(
  kinds: readonly RandomKind[],
  call: ProxiedCall,
  dice: PseudoRandom,
): CallFault | undefined {
  const fitting = callKinds.filter((kind) => kinds.includes(kind) && fits(kind, call));
  return fitting.length === 0 ? undefined : callFaults[dice.oneOf(fitting)](dice);
}

export function randomEventFault(kinds: readonly RandomKind[], dice: PseudoRandom): EventFault | undefined {
  const wanted = eventKinds.filter((kind) => kinds.includes(kind));
  return wanted.length === 0 ? undefined : eventFaults[dice.oneOf(wanted)](dice);
}

/** Faults that have no effect on a read. */
const forWrites: readonly CallKind[] = ["conflict", "lose answer", "hang after", "kill before", "kill after"];

function fits(kind: CallKind, { verb, isWrite }: ProxiedCall): boolean {
  if (kind === "expired") return verb === "watch";
  if (kind === "conflict" && verb !== "update" && verb !== "patch") return false;
  return isWrite || !forWrites.includes(kind);
}
