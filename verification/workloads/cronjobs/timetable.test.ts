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
  const rest = ["01:00", "01:20", "02:00", "03:00", "03:20"];
  expect(at("2026-01-01T00:00:00Z")).toEqual(["00:20", "00:38", ...rest]);
  expect(at("2026-01-01T00:00:22Z")).toEqual(["00:22", "00:40", ...rest]);
});

it("begins in the next minute where two actions fit no longer", () => {
  expect(at("2026-01-01T00:00:23Z").slice(0, 3)).toEqual(["01:20", "01:38", "02:00"]);
});
