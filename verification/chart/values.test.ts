import { readFileSync } from "node:fs";
import { join } from "node:path";
import drover from "drover/package.json" with { type: "json" };
import { expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { root } from "../harness/repository-files.ts";
import { chartValues } from "./values.ts";

// Written from the code: `npx vitest run verification/chart/values.test.ts --update`.
it("infra/chart/values.schema.json has the values of the chart, with the settings of the processes", async () => {
  const schema = { ...z.toJSONSchema(chartValues, { io: "input", target: "draft-7" }) };
  await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(
    "../../infra/chart/values.schema.json",
  );
});

it("the chart is of the version that the parts and the package have", () => {
  const chart: unknown = parse(readFileSync(join(root, "infra/chart/Chart.yaml"), "utf8"));
  expect(chart).toMatchObject({ version: drover.version, appVersion: drover.version });
});

it("the default values have every value, and can be used", () => {
  const values: unknown = parse(readFileSync(join(root, "infra/chart/values.yaml"), "utf8"));
  expect(chartValues.parse(values)).toEqual(values);
});
