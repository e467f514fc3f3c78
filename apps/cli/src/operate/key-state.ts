import type { KeyReport, ListedState } from "@drover/queue";

/** The states of a key as users see them. A `failing` key is also in one of the other states. */
export const keyStates = ["due", "running", "waiting", "paused", "parked", "failing"] as const;
export type DisplayState = (typeof keyStates)[number];

/** @param now Redis' clock, ms. */
export function displayState(report: KeyReport, now: number): Exclude<DisplayState, "failing"> | "idle" {
  switch (report.state) {
    case "idle":
    case "unknown":
      return "idle";
    case "leased":
      return "running";
    case "parked":
      return "parked";
    case "waits":
      if (report.at > now) return "waiting";
      break;
    case "ready":
    case "dispatched":
    case "paused":
  }
  return report.pauses.length > 0 ? "paused" : "due";
}

/**
 * The queue's lists that contain all keys in a state; they may contain others, too. Undefined: all states, each key
 * once. The queue's list `paused` has the keys of objects that are paused themselves; keys of a paused namespace or
 * function stay in `dispatched`, `ready` or `waits`.
 */
export function listedStates(state: DisplayState | undefined): readonly ListedState[] {
  switch (state) {
    case undefined:
      return ["leased", "dispatched", "ready", "paused", "waits", "parked"];
    case "due":
      return ["dispatched", "ready", "waits"];
    case "paused":
      return ["paused", "dispatched", "ready", "waits"];
    case "running":
      return ["leased"];
    case "waiting":
      return ["waits"];
    case "parked":
    case "failing":
      return [state];
  }
}

/** The reason for a key's state, in a few words. */
export function reasonOf(report: KeyReport): string {
  const { state, why, reasons, pauses } = report;
  const [pause] = pauses;
  if (pause !== undefined) return `paused ${pause.scope}`;
  if (state === "parked") return why === "backoff" ? "attempts used up" : "terminal error";
  if (state === "waits" && why !== undefined) return why;
  return reasons.join(", ");
}
