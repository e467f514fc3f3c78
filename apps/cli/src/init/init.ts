import { defineResource } from "@drover/controller";
import { existsSync, readdirSync } from "node:fs";
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { CommandError } from "../command-error.ts";
import { generate } from "../generate/generate.ts";
import { type Names, writeScaffold } from "./scaffold.ts";

export interface InitOptions extends Names {
  /** Where the new folder is made. */
  readonly parent: string;
}

/**
 * Makes a new function in a folder of its name: one that runs, and whose tests pass.
 *
 * @returns the paths of its files below that folder.
 * @throws CommandError for a name that is none, or a folder that has something in it.
 */
export async function init({ parent, ...names }: InitOptions): Promise<readonly string[]> {
  checkNames(names);
  const folder = resolve(parent, names.name);
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new CommandError(`${folder} is there, and not empty. Take another name, or remove it.`);
  }
  const written = writeScaffold(folder, names);
  // Nothing is installed there yet: what it imports is found from here.
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

/** The name of a kind for a function that looks after such objects: `guest-books` -> `GuestBook`. */
export function kindFor(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const camel = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("");
  return camel.replace(/(?<=[^s])s$/, "");
}

/** @throws CommandError, or InvalidResourceError, which says how Kubernetes has names of kinds and groups. */
function checkNames({ name, kind, group }: Names): void {
  if (!/^[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(name)) {
    throw new CommandError(
      `${JSON.stringify(name)} is no name for a function: write lower-case letters, digits and "-", 2 to 63, such as greetings.`,
    );
  }
  defineResource({
    ...{ group, version: "v1alpha1", kind, scope: "Namespaced" },
    ...{ spec: z.object({}), status: z.object({}) },
  });
}
