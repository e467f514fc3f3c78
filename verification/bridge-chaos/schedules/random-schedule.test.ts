import { describe, expect, it } from "vitest";
import { randomSchedule, waitsForEver } from "./random-schedule.ts";
import { faultKinds, type Step } from "./schedule.ts";

const seeds = [1, 2, 3];
const schedules = seeds.flatMap((seed) =>
  Array.from({ length: 1_000 }, (_, index) => ({ seed, index, ...randomSchedule(seed, index, faultKinds) })),
);

/** A wait that only a kill ends must be over its fault when that kill comes. */
function isEnded(steps: readonly Step[], at: number): boolean {
  const [step, next] = steps.slice(at);
  const isPlayedAlone = step !== undefined && "beside" in step && step.beside === false;
  return (
    isPlayedAlone && next?.do === "bridge-kill" && steps.slice(0, at).some((e) => e.do === "bridge-start")
  );
}

describe("a random schedule", () => {
  it("starts the bridge once", () => {
    const starts = ({ steps }: { steps: readonly Step[] }) =>
      steps.filter((e) => e.do === "bridge-start").length;
    expect(schedules.filter((schedule) => starts(schedule) !== 1)).toEqual([]);
  });

  it("sometimes has a wait for ever as its first fault", () => {
    expect(schedules.some(({ steps }) => steps.slice(0, 3).some(waitsForEver))).toBe(true);
  });

  it("kills a bridge that was asked to wait for ever only after it was asked", () => {
    const stuck = schedules.filter(({ steps }) =>
      steps.some((step, at) => waitsForEver(step) && !isEnded(steps, at)),
    );
    expect(stuck.map(({ seed, index }) => ({ seed, index }))).toEqual([]);
  });
});
