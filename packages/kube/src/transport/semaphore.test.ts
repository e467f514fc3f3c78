import { expect, test } from "vitest";
import { semaphore } from "./semaphore.ts";

const never = new AbortController().signal;

test("runs as many calls as there are places, and the others in order", async () => {
  const { run } = semaphore(2);
  const ends: (() => void)[] = [];
  const begun: number[] = [];
  const all = [0, 1, 2, 3].map((i) =>
    run(never, async () => {
      begun.push(i);
      await new Promise<void>((end) => (ends[i] = end));
      return i;
    }),
  );
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  ends[1]?.();
  await all[1];
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  ends[0]?.();
  ends[2]?.();
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
  ends[3]?.();
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
});

test("a place is free again after a failure", async () => {
  const { run } = semaphore(1);
  await expect(run(never, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(await run(never, () => Promise.resolve("done"))).toBe("done");
});

test("a waiting call rejects at once when its signal fires, and takes no place", async () => {
  const { run } = semaphore(1);
  const held = Promise.withResolvers<undefined>();
  const first = run(never, () => held.promise);
  const leave = new AbortController();
  let wasBegun = false;
  const second = run(leave.signal, () => Promise.resolve((wasBegun = true)));
  const third = run(never, () => Promise.resolve("third"));
  leave.abort(new Error("no more"));
  held.resolve(undefined);
  await expect(second).rejects.toThrow("no more");
  await expect(run(leave.signal, () => Promise.resolve())).rejects.toThrow("no more");
  await first;
  expect(await third).toBe("third");
  expect(wasBegun).toBe(false);
});
