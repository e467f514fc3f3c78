import { type Controller, type DeployableFunction, InvalidControllerError } from "@drover/controller";
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { CommandError } from "../command-error.ts";

/** The module that defines a function's deployment, unless another one is named. */
export const functionModule = "src/function.ts";

/**
 * The default export of a module: the result of `defineFunction({ controller, ... })`, or a function without arguments
 * that returns it, if the controller needs other objects.
 *
 * @throws CommandError if the module does not exist, cannot be loaded, or exports something else.
 */
export async function loadFunction(file: string): Promise<DeployableFunction> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new CommandError(
      `There is no ${file}. Create it, with \`export default defineFunction({ controller, ... })\`, or name the module.`,
    );
  }
  const exported = await defaultExportOf(file);
  const given: unknown = isMaker(exported) ? await called(exported, file) : exported;
  if (isDeployable(given)) return given;
  throw new CommandError(
    `${file} has no function as its default export. Write \`export default defineFunction({ controller, ... })\`, with a ` +
      "controller of defineController.",
  );
}

async function defaultExportOf(file: string): Promise<unknown> {
  try {
    const module: unknown = await import(pathToFileURL(file).href);
    return isObject(module) ? module["default"] : undefined;
  } catch (cause) {
    throw new CommandError(`${file} cannot be loaded: ${problemOf(cause)}`, { cause });
  }
}

async function called(make: () => unknown, file: string): Promise<unknown> {
  try {
    return await make();
  } catch (cause) {
    throw new CommandError(`The function that ${file} exports threw: ${problemOf(cause)}`, { cause });
  }
}

function problemOf(cause: unknown): string {
  if (cause instanceof InvalidControllerError) return cause.message;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

const isDeployable = (value: unknown): value is DeployableFunction =>
  isObject(value) && isController(value["controller"]) && isAbsentOrObject(value["deployment"]);

/** Checks only the shape: `defineController` has checked the rest. */
const isController = (value: unknown): value is Controller =>
  isObject(value) &&
  typeof value["name"] === "string" &&
  typeof value["reconcile"] === "function" &&
  typeof value["resyncEvery"] === "number" &&
  isObject(value["for"]) &&
  Array.isArray(value["watches"]);

const isMaker = (value: unknown): value is () => unknown => typeof value === "function";
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
const isAbsentOrObject = (value: unknown): boolean => value === undefined || isObject(value);
