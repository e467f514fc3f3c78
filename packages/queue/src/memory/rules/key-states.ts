import type { KeyState } from "../../work-queue/work-queue.ts";
import type { KeyEntry } from "./ledger-data.ts";
import type { CallContext } from "./call-context.ts";
import { put, removeMember } from "./sorted-set.ts";
import { dequeue, enqueue, isObjectPaused } from "./order.ts";

/*
 * A key waits (for a time), is ready (it will be dispatched in order), dispatched (dispatched: a job was added for it),
 * leased (a worker runs it), parked, paused (due, but its object is paused), or idle. Only these functions move it from
 * one state to another.
 */

export function enterState(context: CallContext, entry: KeyEntry, state: KeyState, at: number): void {
  const { data } = context;
  leaveState(context, entry);
  if (state === "waits" || state === "parked" || state === "paused") entry.cachedObject = undefined;
  entry.state = state;
  entry.at = at;
  put(data.states[state], entry.key, at);
  data.entries.set(entry.key, entry);
  data.expiring.delete(entry.key);
}

/** Makes the key idle: no run holds it any longer. */
export function leaveState(context: CallContext, entry: KeyEntry): void {
  if (entry.state) removeMember(context.data.states[entry.state], entry.key);
  dequeue(context, entry);
  entry.state = undefined;
  entry.at = 0;
  entry.holder = undefined;
}

export function becomeReady(context: CallContext, entry: KeyEntry, since: number): void {
  if (isObjectPaused(context, entry)) {
    enterState(context, entry, "paused", since);
    return;
  }
  enterState(context, entry, "ready", since);
  enqueue(context, entry, since);
}

/** Makes the key ready at that time. Until then, reports show `why` it waits. */
export function waitUntil(context: CallContext, entry: KeyEntry, at: number, why: string): void {
  entry.why = why;
  if (at <= context.now) becomeReady(context, entry, context.now);
  else enterState(context, entry, "waits", at);
}

/** Makes the key due at that time, for wakes that may wait for further ones. */
export function becomeDue(context: CallContext, entry: KeyEntry, at: number): void {
  if (at <= context.now) becomeReady(context, entry, context.now);
  else waitUntil(context, entry, at, "batch");
}

/** Sets the number of failures in a row. */
export function setFails({ data, now }: CallContext, entry: KeyEntry, fails: number): void {
  if (fails > 0 && entry.fails === 0) put(data.failing, entry.key, now);
  if (fails === 0) removeMember(data.failing, entry.key);
  entry.fails = fails;
}
