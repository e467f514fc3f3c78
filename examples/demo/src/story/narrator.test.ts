import { expect, it } from "vitest";
import { narrator, formatSeconds } from "./narrator.ts";

function narrated(colour: boolean, use: (print: ReturnType<typeof narrator>["print"]) => void): string {
  let text = "";
  const write = (part: string | Uint8Array): boolean => ((text += String(part)), true);
  use(narrator({ write }, colour, () => 1_234).print);
  return text;
}

it("puts the seconds since the start before each line", () => {
  expect(narrated(false, (print) => print("Redis started"))).toBe("  1.23 s  Redis started\n");
});

it("writes no control characters if the output is not a terminal", () => {
  expect(narrated(false, (print) => print("gone", "bad"))).toBe("  1.23 s  gone\n");
  expect(narrated(true, (print) => print("gone", "bad"))).toContain("\u001b[31mgone");
});

it("removes the control characters of a message", () => {
  expect(narrated(false, (print) => print("a\u001b[2Jb\r\nc\u009bd"))).toBe("  1.23 s  a [2Jb c d\n");
});

it.each([
  [0, "0.00 s"],
  [420, "0.42 s"],
  [12_345, "12.3 s"],
  [75_000, "75 s"],
])("writes %d ms as %s", (span, text) => {
  expect(formatSeconds(span)).toBe(text);
});
