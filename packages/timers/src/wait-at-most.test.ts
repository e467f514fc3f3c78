import { expect, it } from "vitest";
import { waitAtMost } from "./timers.ts";

const HOUR = 3_600_000;
/** Timers that keep this process alive. */
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

it("resolves when it is done, and leaves no timer", async () => {
  const before = timers();
  await waitAtMost(HOUR, Promise.resolve("done"));
  expect(timers()).toBe(before);
});

it("resolves after its time, though it is not done", async () => {
  await waitAtMost(1, new Promise(() => undefined));
});

it("rejects when it fails before, and leaves no timer", async () => {
  const before = timers();
  await expect(waitAtMost(HOUR, Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(timers()).toBe(before);
});

it("keeps no process alive while it waits", async () => {
  const before = timers();
  const done = Promise.withResolvers<undefined>();
  const waiting = waitAtMost(HOUR, done.promise);
  expect(timers()).toBe(before);
  done.resolve(undefined);
  await waiting;
});
