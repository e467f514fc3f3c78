import { expect, it } from "vitest";
import type { Action } from "../sequences/actions.ts";
import { timesOf } from "./timetable.ts";

const user: Action = { do: "clear" };
const minute: Action = { do: "minute" };
const at = (now: string): readonly string[] =>
  timesOf([user, user, minute, user, minute, minute, user], Date.parse(now)).map((ms) =>
    new Date(ms).toISOString().slice(14, 19),
  );

it("lets users act at fixed seconds, and each minute end", () => {
  const rest = ["01:00", "01:10", "02:00", "03:00", "03:10"];
  expect(at("2026-01-01T00:00:00Z")).toEqual(["00:10", "00:30", ...rest]);
  expect(at("2026-01-01T00:00:20Z")).toEqual(["00:20", "00:40", ...rest]);
});

it("begins in the next minute where two actions fit no longer", () => {
  expect(at("2026-01-01T00:00:21Z").slice(0, 3)).toEqual(["01:10", "01:30", "02:00"]);
});
