import { silentLog } from "@drover/controller";
import { expect, it } from "vitest";
import { throttledWarnings } from "./throttled-warnings.ts";

it("logs each warning at most once per interval, with the number of dropped ones", () => {
  let now = 1_000;
  const warnings: unknown[] = [];
  const log = {
    ...silentLog,
    warn: (fields: object, message: string) => void warnings.push([message, fields]),
  };
  const warn = throttledWarnings(log, 10_000, () => now);
  warn("a", { n: 1 }, "A");
  warn("b", { n: 1 }, "B");
  now += 9_999;
  warn("a", { n: 2 }, "A");
  warn("a", { n: 3 }, "A");
  expect(warnings.splice(0)).toEqual([
    ["A", { n: 1 }],
    ["B", { n: 1 }],
  ]);
  now += 1;
  warn("a", { n: 4 }, "A");
  warn("b", { n: 2 }, "B");
  now += 10_000;
  warn("a", { n: 5 }, "A");
  expect(warnings).toEqual([
    ["A", { n: 4, unsaid: 2 }],
    ["B", { n: 2 }],
    ["A", { n: 5 }],
  ]);
});
