import { testFaults } from "@drover/testing";
import { describe, expect, it } from "vitest";
import { bugs } from "./bugs.ts";

// A life for each of some thirty plans.
const patience = { timeout: 240_000 };

describe.each(bugs.map(([twins, ...kinds]) => ({ bug: twins.broken.name, twins, kinds })))(
  "$bug",
  ({ twins, kinds }) => {
    it("is found", patience, async () => {
      const { problems, plans } = await testFaults(twins.broken, { kinds });
      expect(problems).toEqual([]);
      const found = plans.filter(({ outcome }) => outcome === "differs");
      expect(found.length).toBeGreaterThanOrEqual(2);
      expect(found.map(({ plan }) => plan.kind)).toEqual(expect.arrayContaining(kinds));
      expect(plans.filter(({ outcome }) => outcome === "unexecuted")).toEqual([]);
    });

    it("is not found once it is mended", patience, async () => {
      const { problems, plans } = await testFaults(twins.right);
      expect(problems).toEqual([]);
      expect(plans.length).toBeGreaterThan(10);
      expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
    });
  },
);
