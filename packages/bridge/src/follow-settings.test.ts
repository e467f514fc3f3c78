import { readSettings } from "@drover/runtime";
import { expect, it } from "vitest";
import { followSettings } from "./follow-settings.ts";

const compareEvery = (env: Readonly<Record<string, string>>): number =>
  readSettings(followSettings, { DROVER_REDIS_URL: "redis://127.0.0.1", ...env }).compareEvery;

it("compares a stream with a list every 30 minutes by default", () => {
  expect(compareEvery({})).toBe(1_800_000);
  expect(compareEvery({ DROVER_COMPARE_EVERY: "90s" })).toBe(90_000);
});
