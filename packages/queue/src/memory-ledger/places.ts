import type { KeyState } from "../work-queue.ts";
import type { Entry } from "./ledger-data.ts";
import type { Moment } from "./moment.ts";
import { put, take } from "./sorted-set.ts";
import { dequeue, enqueue, isObjectPaused } from "./turns.ts";

/*
 * A key waits (for a time), is ready (it will be dispatched in order), rung (dispatched: a job was added for it),
 * leased (a worker runs it), parked, paused (due, but its object is paused), or idle. Only these functions move it from
 * one state to another.
 */

export function enter(moment: Moment, entry: Entry, state: KeyState, at: number): void {
  const { data } = moment;
  leave(moment, entry);
  if (state === "waits" || state === "parked" || state === "paused") entry.copy = undefined;
  entry.state = state;
  entry.at = at;
  put(data.states[state], entry.key, at);
  data.entries.set(entry.key, entry);
  data.leaving.delete(entry.key);
}

/** Makes the key idle: no run holds it any longer. */
export function leave(moment: Moment, entry: Entry): void {
  if (entry.state) take(moment.data.states[entry.state], entry.key);
  dequeue(moment, entry);
  entry.state = undefined;
  entry.at = 0;
  entry.holder = undefined;
}

export function becomeReady(moment: Moment, entry: Entry, since: number): void {
  if (isObjectPaused(moment, entry)) {
    enter(moment, entry, "paused", since);
    return;
  }
  enter(moment, entry, "ready", since);
  enqueue(moment, entry, since);
}

/** Makes the key ready at that time. Until then, reports show `why` it waits. */
export function waitUntil(moment: Moment, entry: Entry, at: number, why: string): void {
  entry.why = why;
  if (at <= moment.now) becomeReady(moment, entry, moment.now);
  else enter(moment, entry, "waits", at);
}

/** Sets the number of failures in a row. */
export function setFails({ data, now }: Moment, entry: Entry, fails: number): void {
  if (fails > 0 && entry.fails === 0) put(data.failing, entry.key, now);
  if (fails === 0) take(data.failing, entry.key);
  entry.fails = fails;
}
