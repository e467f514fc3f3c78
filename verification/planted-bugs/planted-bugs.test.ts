import { type Scenario, testFaults } from "@drover/testing";
import { afterAll, describe, expect, it } from "vitest";
import { bugs } from "./bugs.ts";
import { withCopies } from "./with-copies.ts";

// A life for each of some thirty plans.
const patience = { timeout: 240_000 };

let copies = 0;
const copying = ({ start }: Scenario) => withCopies(start, () => (copies += 1));
afterAll(() => expect(copies).toBeGreaterThan(100));

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

    it.each([
      ["is not found once it is mended", twins.right],
      ["is not found either where runs are given copies", { ...twins.right, start: copying(twins.right) }],
    ])("%s", patience, async (_, scenario) => {
      const { problems, plans } = await testFaults(scenario);
      expect(problems).toEqual([]);
      expect(plans.length).toBeGreaterThan(10);
      expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
    });
  },
);
