import fc from "fast-check";
import { expect, it } from "vitest";
import { isAvailable, nextAvailable, type Pod } from "./pod.ts";

const pod = (since: number | undefined): Pod =>
  ({
    status: {
      conditions: since === undefined ? [] : [{ type: "Ready", status: "True", lastTransitionTime: since }],
    },
  }) as unknown as Pod;

it("the next pod becomes available then, and none before", () => {
  const since = fc.option(
    fc.nat(100).map((seconds) => seconds * 1_000),
    { nil: undefined },
  );
  fc.assert(
    fc.property(fc.array(since), fc.nat(60), fc.nat(120), (all, minReadySeconds, seconds) => {
      const pods = all.map(pod);
      const now = seconds * 1_000;
      const available = (at: number): number =>
        pods.filter((each) => isAvailable(each, minReadySeconds, at)).length;
      const next = nextAvailable(pods, minReadySeconds, now);
      const last = 1_000_000;
      if (next === undefined || minReadySeconds === 0) expect(available(last)).toBe(available(now));
      else {
        expect(available(now + next - 1)).toBe(available(now));
        expect(available(now + next)).toBeGreaterThan(available(now));
      }
    }),
  );
});
