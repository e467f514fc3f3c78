import { expect, it } from "vitest";
import { cacheWithTtl } from "./cache-with-ttl.ts";

it("computes a value again only if the last one has expired; concurrent calls share it", async () => {
  let [now, made] = [0, 0];
  const value = cacheWithTtl(
    () => Promise.resolve((made += 1)),
    1_000,
    () => now,
  );
  expect(await Promise.all([value(), value()])).toEqual([1, 1]);
  now = 999;
  expect(await value()).toBe(1);
  now = 1_000;
  expect(await value()).toBe(2);
});

it("does not cache a failure", async () => {
  let tries = 0;
  const value = cacheWithTtl(
    () => (++tries === 1 ? Promise.reject(new Error("away")) : Promise.resolve(tries)),
    1_000,
    () => 0,
  );
  await expect(value()).rejects.toThrow("away");
  expect(await value()).toBe(2);
});

it("keeps a newer value if an older one fails late", async () => {
  let [now, made] = [0, 0];
  const first = Promise.withResolvers<number>();
  const value = cacheWithTtl(
    () => (++made === 1 ? first.promise : Promise.resolve(made)),
    1_000,
    () => now,
  );
  const late = value();
  now = 1_000;
  expect(await value()).toBe(2);
  first.reject(new Error("late"));
  await expect(late).rejects.toThrow("late");
  expect(await value()).toBe(2);
});
