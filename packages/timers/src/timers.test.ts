import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { raceAbort, waitAtMost } from "./timers.ts";

it("a race removes its listener from the signal when it ends", async () => {
  const { signal } = new AbortController();
  await raceAbort(Promise.resolve(1), signal);
  await expect(raceAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

it("a race rejects with the signal's reason, also if it has fired before", async () => {
  const stop = new AbortController();
  const pending = raceAbort(new Promise(() => undefined), stop.signal);
  const reason = new Error("stop");
  stop.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await expect(raceAbort(new Promise(() => undefined), stop.signal)).rejects.toBe(reason);
});

const HOUR = 3_600_000;
/** Timers that keep this process alive. */
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

it("a wait resolves with its promise, and leaves no timer", async () => {
  const before = timers();
  await waitAtMost(HOUR, Promise.resolve("done"));
  expect(timers()).toBe(before);
});

it("a wait resolves after its time if the promise is pending", async () => {
  await waitAtMost(1, new Promise(() => undefined));
});

it("a wait rejects with its promise, and leaves no timer", async () => {
  const before = timers();
  await expect(waitAtMost(HOUR, Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(timers()).toBe(before);
});

it("a wait does not keep the process alive", async () => {
  const before = timers();
  const done = Promise.withResolvers<undefined>();
  const waiting = waitAtMost(HOUR, done.promise);
  expect(timers()).toBe(before);
  done.resolve(undefined);
  await waiting;
});
