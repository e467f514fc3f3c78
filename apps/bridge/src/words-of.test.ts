import { expect, it } from "vitest";
import { wordsOf } from "./words-of.ts";

it("are an error's own, on one line and of 300 characters at most", () => {
  expect(wordsOf(new Error("OOM command not allowed\nwhen used memory > 'maxmemory'."))).not.toContain("\n");
  expect(wordsOf(new Error("x".repeat(300)))).toBe("x".repeat(300));
  expect(wordsOf(new Error("x".repeat(301)))).toBe("x".repeat(300));
});
