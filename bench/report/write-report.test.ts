import { expect, test } from "vitest";
import { withGoals } from "./write-report.ts";

test("new goals replace the section Results of a README, and no other section", () => {
  const written = withGoals(
    "# A\n\n## How\n\nso\n\n## Results\n\nold\n\n## What was learned\n\nmuch\n",
    "new",
  );
  expect(written).toMatch(/## How\n\nso\n\n## Results\n\n.*\n\nnew\n\n## What was learned\n\nmuch/);
  expect(written).not.toContain("old");
  expect(withGoals("# A\n\n## Results\n\nold\n", "new")).toMatch(/^# A\n\n## Results\n\n.*\n\nnew\s*$/);
});
