import { defineController } from "@drover/controller";
import { expect, it } from "vitest";
import { functionSettings } from "../process/function-settings.ts";
import { Widget } from "../run/widgets.fixture.ts";
import { applySettings } from "./apply-settings.ts";

const controller = defineController({
  for: Widget,
  resyncEvery: "1h",
  concurrency: 3,
  timeout: "9s",
  retry: { first: "1s", longest: "1m", attempts: 4 },
  limits: { runs: { perSecond: 5, burst: 6 }, accounts: { a: { perSecond: 1, burst: 1 } } },
  reconcile: () => Promise.resolve(undefined),
});
const paced = (variables: Readonly<Record<string, string>>) => {
  const { resyncEvery, concurrency, timeout, retry, limits } = applySettings(
    controller,
    functionSettings.parse({ redisUrl: "redis://127.0.0.1", ...variables }),
  );
  return { resyncEvery, concurrency, timeout, retry, limits };
};
const asDefined = {
  resyncEvery: 3_600_000,
  concurrency: 3,
  timeout: 9_000,
  retry: { first: 1_000, longest: 60_000, attempts: 4 },
  limits: controller.limits,
};
const { accounts } = controller.limits;

it.each<[string, Readonly<Record<string, string>>, object]>([
  ["nothing", {}, {}],
  ["resyncEvery", { resyncEvery: "2h" }, { resyncEvery: 7_200_000 }],
  ["concurrency", { concurrency: "1" }, { concurrency: 1 }],
  ["timeout", { timeout: "30s" }, { timeout: 30_000 }],
  ["retryFirst", { retryFirst: "2s" }, { retry: { ...asDefined.retry, first: 2_000 } }],
  ["retryLongest", { retryLongest: "2m" }, { retry: { ...asDefined.retry, longest: 120_000 } }],
  ["retryAttempts", { retryAttempts: "9" }, { retry: { ...asDefined.retry, attempts: 9 } }],
  ["runsPerSecond", { runsPerSecond: "0.5" }, { limits: { runs: { perSecond: 0.5, burst: 1 }, accounts } }],
  [
    "runsPerSecond and runsBurst",
    { runsPerSecond: "2.5", runsBurst: "9" },
    { limits: { runs: { perSecond: 2.5, burst: 9 }, accounts } },
  ],
])("the settings override the controller: %s", (_what, variables, more) => {
  expect(paced(variables)).toEqual({ ...asDefined, ...more });
});
