import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CommandError } from "../command-error.ts";
import { type GeneratedFiles, functionFiles } from "./function-files.ts";
import { functionModule, loadFunction } from "./load-function.ts";

export interface GenerateOptions {
  /** The function's folder. */
  readonly folder: string;
  /** The path of its module, relative to that folder. */
  readonly module?: string | undefined;
  /** If true, the function runs with a bridge in its process. */
  readonly embedded?: boolean;
  /** The folder in which the files are written. Default: the function's. */
  readonly out?: string | undefined;
}

/**
 * Writes the files that are generated from a function's code, where they differ.
 * @returns the paths of the written files.
 */
export async function generate(options: GenerateOptions): Promise<readonly string[]> {
  const { folder, out = folder } = options;
  const files = await filesOf(options);
  const stale = staleIn(out, files);
  for (const name of stale) {
    mkdirSync(dirname(join(out, name)), { recursive: true });
    writeFileSync(join(out, name), files[name] ?? "");
  }
  return stale;
}

/** @throws CommandError naming the files that differ from the code, and the command that writes them. */
export async function checkGenerated(options: GenerateOptions): Promise<readonly string[]> {
  const files = await filesOf(options);
  const stale = staleIn(options.folder, files);
  if (stale.length === 0) return Object.keys(files);
  const { module, embedded = false } = options;
  const command = [
    "npx drover generate",
    ...(embedded ? ["--embedded"] : []),
    ...(module === undefined ? [] : [module]),
  ];
  throw new CommandError(`${stale.join(", ")}: out of date. Run: ${command.join(" ")}`);
}

const filesOf = async ({
  folder,
  module = functionModule,
  embedded,
}: GenerateOptions): Promise<GeneratedFiles> =>
  functionFiles(await loadFunction(resolve(folder, module)), embedded);

const staleIn = (folder: string, files: GeneratedFiles): readonly string[] =>
  Object.entries(files).flatMap(([name, text]) => (present(join(folder, name)) === text ? [] : [name]));

function present(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
