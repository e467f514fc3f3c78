import { expect, it } from "vitest";
import { errorSummary } from "./error-summary.ts";

it("are an error's own, on one line and of 300 characters at most", () => {
  expect(errorSummary(new Error("OOM command not allowed\nwhen used memory > 'maxmemory'."))).not.toContain(
    "\n",
  );
  expect(errorSummary(new Error("x".repeat(300)))).toBe("x".repeat(300));
  expect(errorSummary(new Error("x".repeat(301)))).toBe("x".repeat(300));
});
