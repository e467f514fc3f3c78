import { expect, it } from "vitest";
import { advanced, newStream } from "./stream-state.ts";

const failing = { ...newStream({ position: "7" }), failures: 3 };

it.each(["7", "6"])("version %s is not progress, and does not reset failures", (version) => {
  expect(advanced(failing, version)).toBe(failing);
});

it.each([
  ["a newer version", failing],
  ["a first version", { ...newStream(), failures: 3 }],
])("%s is progress, and resets failures", (_, state) => {
  expect(advanced(state, "8")).toMatchObject({ position: "8", following: true, failures: 0 });
});

it("a watch makes progress only with a newer version", () => {
  const phase = { name: "watching", since: 0, progressed: false } as const;
  const watching = { ...failing, phase } as typeof failing;
  expect(advanced(watching, "7").phase).toMatchObject({ progressed: false });
  expect(advanced(watching, "8").phase).toMatchObject({ progressed: true });
});
