import { expect, it, vi } from "vitest";
import { cacheTarget } from "./cache-target.ts";
import type { Target } from "@drover/calls";

const at = (address: string): Target => ({ url: new URL("http://web.example.com/"), address });
const { signal } = new AbortController();

function remembered() {
  let now = 1_000_000;
  const find = vi.fn<(signal: AbortSignal) => Promise<Target>>();
  const target = cacheTarget(find, () => now);
  return { find, target, pass: (time: number) => (now += time) };
}

it("looks a target up once in five seconds", async () => {
  const { find, target, pass } = remembered();
  find.mockResolvedValueOnce(at("192.0.2.1")).mockResolvedValueOnce(at("192.0.2.2"));
  expect(await target(signal)).toEqual(at("192.0.2.1"));
  pass(4_999);
  expect(await target(signal)).toEqual(at("192.0.2.1"));
  expect(find).toHaveBeenCalledTimes(1);
  pass(1);
  expect(await target(signal)).toEqual(at("192.0.2.2"));
  pass(4_999);
  expect(await target(signal)).toEqual(at("192.0.2.2"));
  expect(find).toHaveBeenCalledTimes(2);
});

it("counts the five seconds from when the target was asked for, not from its answer", async () => {
  const { find, target, pass } = remembered();
  find.mockImplementation(() => {
    pass(3_000);
    return Promise.resolve(at("192.0.2.1"));
  });
  await target(signal);
  pass(2_000);
  await target(signal);
  expect(find).toHaveBeenCalledTimes(2);
});

it("looks a target that was not found up again at once", async () => {
  const { find, target } = remembered();
  find.mockRejectedValueOnce(new Error("There is no Service web/greetings."));
  find.mockResolvedValueOnce(at("192.0.2.1"));
  await expect(target(signal)).rejects.toThrow("no Service");
  expect(await target(signal)).toEqual(at("192.0.2.1"));
});
