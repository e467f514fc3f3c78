import { expect, it } from "vitest";
import { hourAt, minuteAt, minutesAt, withTimes } from "./times.ts";

const now = Date.parse("2026-01-01T23:58:10Z");

it("fills in the times on the clocks of a zone", () => {
  const written = new Map<string, string>();
  const schedule = `${minuteAt(1)},${minuteAt(3)} * * * *`;
  const local = `${minuteAt(2, "Asia/Kathmandu")} ${hourAt(2, "Asia/Kathmandu")} * * *`;
  const filled = withTimes({ spec: { schedule, local, other: "<b>" }, list: [minutesAt(2)] }, written, now);
  expect(filled).toEqual({
    spec: { schedule: "59,1 * * * *", local: "45 5 * * *", other: "<b>" },
    list: [String(Date.parse("2026-01-02T00:00:00Z") / 60_000)],
  });
  expect(written.get("59,1 * * * *")).toBe(schedule);
  expect(written.get("45 5 * * *")).toBe(local);
});
