import { expect, it } from "vitest";
import { podAddresses } from "./pod-addresses.ts";

it("gives each address to one pod at a time, and one that came back last", () => {
  const pool = podAddresses("127.9.0.0/29");
  const all = Array.from({ length: 6 }, () => pool.take());
  expect(all).toEqual([1, 2, 3, 4, 5, 6].map((n) => `127.9.0.${n}`));
  expect(pool.take()).toBeUndefined();
  pool.release("127.9.0.5");
  pool.release("127.9.0.2");
  expect([pool.take(), pool.take()]).toEqual(["127.9.0.2", "127.9.0.5"]);
});

it("keeps what a pod has already", () => {
  const pool = podAddresses("127.9.1.0/29");
  expect(pool.reserve("127.9.1.1")).toBe(true);
  expect(pool.reserve("127.9.1.1")).toBe(false);
  for (const foreign of ["", "127.9.1.0", "127.9.1.7", "127.9.2.1", "10.0.0.1"])
    expect(pool.reserve(foreign), foreign).toBe(false);
  expect(pool.take()).toBe("127.9.1.2");
});

it.each(["10.0.0.0/16", "127.0.0.0/4", "127.0.0.0/31", "127.2.0.0", "all"])("refuses the range %s", (cidr) =>
  expect(() => podAddresses(cidr)).toThrow(/Give one like 127\.2\.0\.0\/16/),
);
