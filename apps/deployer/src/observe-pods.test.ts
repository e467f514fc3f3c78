import { expect, it } from "vitest";
import { observed } from "./observe-pods.ts";

const troubleOf = (container: object) => {
  const metadata = { name: "gadgets-r1", namespace: "a", uid: "u", resourceVersion: "1" };
  const status = { phase: "Pending", containerStatuses: [{ restartCount: 0, ...container }] };
  return observed({ apiVersion: "v1", kind: "Pod", metadata, status }).trouble;
};

it("a Pod that starts is no trouble, until its container does not", () => {
  expect(troubleOf({ state: { waiting: { reason: "ContainerCreating" } } })).toBeUndefined();
  expect(troubleOf({ state: { running: {} } })).toBeUndefined();
  const backOff = { reason: "ImagePullBackOff", message: "not found" };
  expect(troubleOf({ state: { waiting: backOff } })).toBe("ImagePullBackOff: not found");
  const ended = { terminated: { exitCode: 3, reason: "Error" } };
  const crashed = { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: ended };
  expect(troubleOf(crashed)).toBe("CrashLoopBackOff: its container ended with exit code 3");
});
