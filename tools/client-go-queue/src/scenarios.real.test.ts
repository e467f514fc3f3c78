import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { printScenarios } from "./print-scenarios.ts";
import { scenariosFile } from "./scenarios.ts";

it("client-go still does what is committed, to the byte", async ({ signal }) => {
  expect(await printScenarios({ signal })).toBe(await readFile(scenariosFile, "utf8"));
});
