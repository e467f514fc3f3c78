import { expect, it } from "vitest";
import { errorSummary } from "./error-summary.ts";

it("is the message of an error, on one line and with at most 300 characters", () => {
  expect(errorSummary(new Error("OOM command not allowed\nwhen used memory > 'maxmemory'."))).not.toContain(
    "\n",
  );
  expect(errorSummary(new Error("x".repeat(300)))).toBe("x".repeat(300));
  expect(errorSummary(new Error("x".repeat(301)))).toBe("x".repeat(300));
});
