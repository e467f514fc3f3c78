import { expect, test } from "vitest";
import { lagFigures, lagsOf } from "./lags.ts";

const change = (key: string, sent: number) => ({ key, sent, answered: sent + 1 });

test("a change is answered by what is first seen of its key after it was sent", () => {
  const seen = new Map([["a", [5, 12, 30]]]);
  expect(lagsOf([change("a", 10), change("a", 12), change("a", 1)], seen)).toEqual([2, 18, 4]);
});

test("a change that nothing was seen of is lost, and counts in no percentile", () => {
  const seen = new Map([["a", [5]]]);
  const lags = lagsOf([change("a", 1), change("a", 6), change("b", 1)], seen);
  expect(lagFigures(lags)).toEqual({ p50: 4, p99: 4, max: 4, lost: 2 });
});
