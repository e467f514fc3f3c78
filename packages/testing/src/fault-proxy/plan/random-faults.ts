import type { ProxiedCall } from "../calls/proxied-call.ts";
import type { CallFault, EventFault } from "./faults.ts";
import type { PseudoRandom } from "@drover/random";

const callKinds = [
  "conflict",
  "too many requests",
  "server error",
  "expired",
  "reset",
  "lose answer",
  "delay",
  "hang",
  "hang after",
  "kill before",
  "kill after",
] as const;
const eventKinds = [
  "event delay",
  "event duplicate",
  "event cut",
  "event error",
  "event expired",
  "event garbage",
  "event swallow",
  "event fall silent",
] as const;
type CallKind = (typeof callKinds)[number];
type EventKind = (typeof eventKinds)[number];

/** The faults that a seed may choose from, by their names in a plan. */
export const randomKinds = [...callKinds, ...eventKinds] as const;
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
  return fitting.length === 0 ? undefined : callFault(dice.oneOf(fitting), dice);
}

export function randomEventFault(kinds: readonly RandomKind[], dice: PseudoRandom): EventFault | undefined {
  const wanted = eventKinds.filter((kind) => kinds.includes(kind));
  return wanted.length === 0 ? undefined : eventFault(dice.oneOf(wanted), dice);
}

/** Faults that have no effect on a read. */
const forWrites: readonly CallKind[] = ["conflict", "lose answer", "hang after", "kill before", "kill after"];

function fits(kind: CallKind, { verb, isWrite }: ProxiedCall): boolean {
  if (kind === "expired") return verb === "watch";
  if (kind === "conflict" && verb !== "update" && verb !== "patch") return false;
  return isWrite || !forWrites.includes(kind);
}

function callFault(kind: CallKind, dice: PseudoRandom): CallFault {
  switch (kind) {
    case "conflict":
      return { do: "refuse", status: 409 };
    case "too many requests":
      return { do: "refuse", status: 429, retryAfter: 1 };
    case "server error":
      return { do: "refuse", status: dice.oneOf([500, 503, 504]) };
    case "expired":
      return { do: "refuse", status: 410 };
    case "delay":
      return { do: "delay", for: dice.between(1, 500) };
    case "kill before":
      return { do: "kill", when: "before" };
    case "kill after":
      return { do: "kill", when: "after" };
    case "reset":
    case "lose answer":
    case "hang":
    case "hang after":
      return { do: kind };
  }
}

function eventFault(kind: EventKind, dice: PseudoRandom): EventFault {
  switch (kind) {
    case "event delay":
      return { do: "delay", for: dice.between(1, 500) };
    case "event expired":
      return { do: "error", code: 410 };
    case "event error":
      return { do: "error", code: 500 };
    case "event duplicate":
      return { do: "duplicate" };
    case "event cut":
      return { do: "cut" };
    case "event garbage":
      return { do: "garbage" };
    case "event swallow":
      return { do: "swallow" };
    case "event fall silent":
      return { do: "fall silent" };
  }
}
