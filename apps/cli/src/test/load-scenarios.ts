import type { Scenario } from "@drover/testing";
import { globSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandError } from "../command-error.ts";

/** The files of scenarios: modules in TypeScript, and YAML for functions that are called. */
export interface ScenarioFiles {
  readonly modules: readonly string[];
  readonly written: readonly string[];
}

const scenarioFiles = ["**/*.faults.ts", "**/*.faults.yaml"];

/**
 * @param named paths; if empty, every `*.faults.ts` and `*.faults.yaml` below the folder.
 * @throws CommandError if there is none.
 */
export function findScenarios(folder: string, named: readonly string[]): ScenarioFiles {
  const found =
    named.length > 0 ? named : globSync(scenarioFiles, { cwd: folder, exclude: isExcludedFolder }).sort();
  if (found.length === 0)
    throw new CommandError(
      `There is no ${scenarioFiles.join(" or ")} below ${folder}. Write one: see docs/testing.md.`,
    );
  const isWritten = (path: string): boolean => /\.ya?ml$/.test(path);
  return { modules: found.filter((path) => !isWritten(path)), written: found.filter(isWritten) };
}

/**
 * The default exports of modules: a scenario each, or an array of scenarios.
 *
 * @throws CommandError if one cannot be loaded, or exports something else.
 */
export async function loadScenarios(
  folder: string,
  modules: readonly string[],
): Promise<readonly Scenario[]> {
  const loaded = modules.map((module) => scenariosIn(resolve(folder, module), module));
  return (await Promise.all(loaded)).flat();
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
