import { expect, it } from "vitest";
import { violationsIn } from "./judge.ts";
import type { JournalLine } from "./loads.ts";

const line = (at: number, what: JournalLine["what"], by: string, n = 1): JournalLine => ({
  at,
  what,
  by,
  n,
  key: "a/b",
});
const once = [line(1, "begins", "p"), line(2, "ends", "p")];

it("accepts runs one after another, one for each change", () => {
  expect(violationsIn([...once, line(3, "begins", "q", 2), line(4, "ends", "q", 2)], [])).toEqual([]);
});

it("sees a run that begins while another one lasts, unless that one was killed", () => {
  const lines = [line(1, "begins", "p"), line(3, "begins", "q"), line(4, "ends", "q")];
  expect(violationsIn(lines, [])).toHaveLength(1);
  expect(violationsIn(lines, [{ pod: "q", at: 2 }])).toHaveLength(1);
  expect(violationsIn(lines, [{ pod: "p", at: 5 }])).toHaveLength(1);
  expect(violationsIn(lines, [{ pod: "p", at: 2 }])).toEqual([]);
});

it("reports a change that is reconciled twice, unless the first run was killed", () => {
  const lines = [...once, line(3, "begins", "q"), line(4, "ends", "q")];
  expect(violationsIn(lines, [])).toEqual(["a/b: change 1 was worked on 2 times"]);
  expect(violationsIn(lines, [{ pod: "q", at: 5 }])).toHaveLength(1);
  expect(violationsIn(lines, [{ pod: "p", at: 2 }])).toEqual([]);
});
