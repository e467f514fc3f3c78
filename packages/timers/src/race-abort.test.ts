import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { raceAbort } from "./timers.ts";

it("a signal that outlives many races keeps no listener of them, however they end", async () => {
  const { signal } = new AbortController();
  await raceAbort(Promise.resolve(1), signal);
  await expect(raceAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

it("rejects with the signal's reason, also where it has fired before", async () => {
  const stop = new AbortController();
  const pending = raceAbort(new Promise(() => undefined), stop.signal);
  const reason = new Error("stop");
  stop.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await expect(raceAbort(new Promise(() => undefined), stop.signal)).rejects.toBe(reason);
});
