import { defineResource } from "@drover/controller";
import { readdirSync, rmSync, statSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { CommandError } from "../command-error.ts";
import { type CalledLanguage, writeCalledScaffold } from "./called-scaffold.ts";
import { generate } from "../generate/generate.ts";
import { type FunctionNames, writeScaffold } from "./scaffold.ts";

export interface InitOptions extends FunctionNames {
  /** The folder in which the new one is created. */
  readonly parent: string;
  readonly language: Language;
}

/** TypeScript, or a language of functions that are called over HTTP. */
export type Language = "typescript" | CalledLanguage;

/**
 * Creates a new function in a folder of its name. It runs, and its tests pass.
 *
 * @returns the paths of its files, relative to that folder.
 * @throws CommandError for a name that is invalid or taken, or a folder that is not empty. Files created before the
 * failure are removed.
 */
export async function init({ parent, language, ...names }: InitOptions): Promise<readonly string[]> {
  checkNames(names);
  const folder = resolve(parent, names.name);
  const present = statSync(folder, { throwIfNoEntry: false });
  if (present !== undefined && !(present.isDirectory() && readdirSync(folder).length === 0)) {
    const what = present.isDirectory() ? "there, and not empty" : "a file";
    throw new CommandError(`${folder} is ${what}. Take another name, or remove it.`);
  }
  try {
    return language === "typescript"
      ? await make(folder, names)
      : writeCalledScaffold(folder, names, language);
  } catch (error) {
    const made = present === undefined ? [folder] : readdirSync(folder).map((name) => join(folder, name));
    for (const path of made) rmSync(path, { recursive: true, force: true });
    throw error;
  }
}

async function make(folder: string, names: FunctionNames): Promise<readonly string[]> {
  const written = writeScaffold(folder, names);
  // No packages are installed there yet: resolve its imports from this package.
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const isBare = /^[a-z@]/.test(specifier) && !specifier.includes(":");
      const isNews = context.parentURL?.startsWith(`${pathToFileURL(folder).href}/`) === true;
      return next(specifier, isBare && isNews ? { ...context, parentURL: import.meta.url } : context);
    },
  });
  try {
    return [...written, ...(await generate({ folder }))].sort();
  } finally {
    hooks.deregister();
  }
}

/** Derives the kind from the name of a function: `guest-books` -> `GuestBook`. */
export function kindFor(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const camel = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("");
  return singularOf(camel);
}

/** The reverse of `pluralOf`, as well as the ending shows it: `Caches` can be the plural of `Cache` or of `Cach`. */
function singularOf(word: string): string {
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(ss|x|sh|[tn]ch|[^aeiou]us)es$/.test(word)) return word.slice(0, -2);
  return /(ss|us|is)$/.test(word) ? word : word.replace(/s$/, "");
}

/** @throws CommandError, or InvalidResourceError, which explains the rules for names of kinds and groups. */
function checkNames({ name, kind, plural, group }: FunctionNames): void {
  if (!/^[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(name)) {
    throw new CommandError(
      `${JSON.stringify(name)} is not a valid function name: use 2 to 63 lower-case letters, digits and "-", the first a letter, such as greetings.`,
    );
  }
  defineResource({
    group,
    version: "v1alpha1",
    kind,
    plural,
    scope: "Namespaced",
    spec: z.object({}),
    status: z.object({}),
  });
}
