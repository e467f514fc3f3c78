import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CommandError } from "../command-error.ts";
import { type Files, functionFiles } from "./function-files.ts";
import { functionModule, loadFunction } from "./load-function.ts";

export interface GenerateOptions {
  /** The function's folder. */
  readonly folder: string;
  /** Its module, below that folder. */
  readonly module?: string | undefined;
  /** It is to run with a bridge in its process. */
  readonly embedded?: boolean;
}

/**
 * Writes the files that follow from a function's code, where they are not as they should be.
 * @returns what was written.
 */
export async function generate(options: GenerateOptions): Promise<readonly string[]> {
  const { folder } = options;
  const files = await filesOf(options);
  const stale = staleIn(folder, files);
  for (const name of stale) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), files[name] ?? "");
  }
  return stale;
}

/** @throws CommandError naming the files that are not as the code has them, and the command that writes them. */
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
  throw new CommandError(
    `${stale.join(", ")}: not as the code has ${stale.length === 1 ? "it" : "them"}. Run: ${command.join(" ")}`,
  );
}

const filesOf = async ({ folder, module = functionModule, embedded }: GenerateOptions): Promise<Files> =>
  functionFiles(await loadFunction(resolve(folder, module)), embedded);

const staleIn = (folder: string, files: Files): readonly string[] =>
  Object.entries(files).flatMap(([name, text]) => (present(join(folder, name)) === text ? [] : [name]));

function present(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
