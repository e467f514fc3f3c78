import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { CommandError } from "../command-error.ts";
import { repositoryPath } from "#repository-path";
import { version } from "../package/version.ts";
import { template as templatePath } from "./sources.ts";

/** The names of a new function. */
export interface FunctionNames {
  /** Name of its folder, package, image and process. */
  readonly name: string;
  /** CamelCase, singular. */
  readonly kind: string;
  /** Plural of the kind, in lower case. */
  readonly plural: string;
  readonly group: string;
}

const template = repositoryPath(templatePath);

/**
 * Writes a function's files, except those that are generated from its code.
 * @returns their paths, relative to the folder.
 * @throws CommandError, before anything is written, if a name collides with another one in the template.
 */
export function writeScaffold(folder: string, names: FunctionNames): readonly string[] {
  const paths = globSync("**/*", { cwd: template })
    .filter((path) => statSync(join(template, path)).isFile())
    .sort();
  const named = new Map(paths.map((path) => [path, targetOf(path, names)]));
  refuseTaken(names, [...named.values()]);
  for (const [path, name] of named) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), renamed(readFileSync(join(template, path), "utf8"), names));
  }
  return [...named.values()];
}

const targetOf = (path: string, names: FunctionNames): string => withDot(renamed(path, names));

/** npm leaves files of these names out of a package, so here they have no dot. */
export const withDot = (path: string): string => path.replace(/^(?=(?:gitignore|npmrc)$)/, ".");

function refuseTaken({ name, kind }: FunctionNames, targets: readonly string[]): void {
  const twice = targets.find((target, index) => targets.indexOf(target) !== index);
  if (twice !== undefined) {
    throw new CommandError(
      `The kind ${kind} would have its schemas in ${twice}, a file that every function needs for something else. Give another with --kind.`,
    );
  }
  const manifest = packageSchema.parse(JSON.parse(readFileSync(join(template, "package.json"), "utf8")));
  if (Object.values(manifest).some((dependencies) => Object.hasOwn(dependencies, name))) {
    throw new CommandError(
      `${name} is the name of a package that every function needs. Take another, such as my-${name}.`,
    );
  }
}

const packages = z.record(z.string(), z.string());
const packageSchema = z.object({
  dependencies: packages,
  devDependencies: packages,
});

/**
 * Replaces the template's names. The template is a function of its own, `greeter`, which is checked and tested like all
 * others in this repository.
 */
function renamed(text: string, { name, kind, plural, group }: FunctionNames): string {
  const words: Readonly<Record<string, string>> = {
    greeter: name,
    Greeting: kind,
    greeting: kind.toLowerCase(),
    greetings: plural,
    "example.com": group,
    DROVER_VERSION: version,
  };
  return text.replaceAll(
    /greeter|greetings|[Gg]reeting|example\.com|DROVER_VERSION/g,
    (word) => words[word] ?? word,
  );
}
