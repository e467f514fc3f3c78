import { expect, it } from "vitest";
import { narrator, formatSeconds } from "./narrator.ts";

function narrated(colour: boolean, tell: (say: ReturnType<typeof narrator>["print"]) => void): string {
  let text = "";
  const write = (part: string | Uint8Array): boolean => ((text += String(part)), true);
  tell(narrator({ write }, colour, () => 1_234).print);
  return text;
}

it("puts the seconds since the start before each line", () => {
  expect(narrated(false, (say) => say("Redis started"))).toBe("  1.23 s  Redis started\n");
});

it("writes no control characters where there is no terminal, also for trouble", () => {
  expect(narrated(false, (say) => say("gone", "bad"))).toBe("  1.23 s  gone\n");
  expect(narrated(true, (say) => say("gone", "bad"))).toContain("\u001b[31mgone");
});

it("lets no message out of an object write to the terminal", () => {
  expect(narrated(false, (say) => say("a\u001b[2Jb\r\nc\u009bd"))).toBe("  1.23 s  a [2Jb c d\n");
});

it.each([
  [0, "0.00 s"],
  [420, "0.42 s"],
  [12_345, "12.3 s"],
  [75_000, "75 s"],
])("writes %d ms as %s", (span, text) => {
  expect(formatSeconds(span)).toBe(text);
});
