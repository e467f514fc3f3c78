import type { Scenario } from "@drover/testing";
import { globSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandError } from "../command-error.ts";

/** The modules to load if none are named. */
export const scenarioModules = "**/*.faults.ts";

/**
 * The default exports of modules: a scenario each, or an array of scenarios.
 *
 * @param modules paths; if empty, every `*.faults.ts` below the folder.
 * @throws CommandError if there is none, one cannot be loaded, or exports something else.
 */
export async function loadScenarios(
  folder: string,
  modules: readonly string[],
): Promise<readonly Scenario[]> {
  const found =
    modules.length > 0
      ? modules
      : globSync(scenarioModules, { cwd: folder, exclude: isExcludedFolder }).sort();
  const loaded = await Promise.all(found.map((module) => scenariosIn(resolve(folder, module), module)));
  if (loaded.length > 0) return loaded.flat();
  throw new CommandError(
    `There is no ${scenarioModules} below ${folder}. Write one, with \`export default faultScenario({ ... })\` of ` +
      "@drover/testing: see docs/testing.md.",
  );
}

const isExcludedFolder = (path: string): boolean => /(^|\/)(node_modules|dist)$/.test(path);

async function scenariosIn(file: string, name: string): Promise<readonly Scenario[]> {
  const exported = await defaultExportOf(file, name);
  const all: readonly unknown[] = Array.isArray(exported) ? exported : [exported];
  if (all.length > 0 && all.every(isScenario)) return all;
  throw new CommandError(
    `${name} has no scenario as its default export. Write \`export default faultScenario({ name, start, steps })\`, or an array ` +
      "of such.",
  );
}

async function defaultExportOf(file: string, name: string): Promise<unknown> {
  try {
    const module: unknown = await import(pathToFileURL(file).href);
    return isObject(module) ? module["default"] : undefined;
  } catch (cause) {
    const problem = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    throw new CommandError(`${name} cannot be loaded: ${problem}`, { cause });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Checks only the shape. */
const isScenario = (value: unknown): value is Scenario =>
  isObject(value) &&
  typeof value["name"] === "string" &&
  typeof value["start"] === "function" &&
  Array.isArray(value["steps"]);
