import { expect, it } from "vitest";
import { orStop, stopRequest } from "./stop-request.ts";

it("the first request is the reason, and its signal fires at once", () => {
  const request = stopRequest();
  expect([request.reason(), request.signal.aborted]).toEqual([undefined, false]);
  request.stop({ kind: "broken", problem: "no port" });
  request.stop({ kind: "asked" });
  expect([request.reason(), request.signal.aborted]).toEqual([{ kind: "broken", problem: "no port" }, true]);
});

it("a start that fails stops those beside it and is passed on; one that succeeds stops nothing", async () => {
  const request = stopRequest();
  expect(await orStop(request, Promise.resolve(7))).toBe(7);
  expect(request.reason()).toBeUndefined();
  await expect(orStop(request, Promise.reject(new Error("in use")))).rejects.toThrow("in use");
  expect(request.reason()).toEqual({ kind: "broken", problem: "in use" });
});
