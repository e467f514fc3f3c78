import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inRepository } from "../repository.ts";

/** What a new function is called. */
export interface Names {
  /** Its folder, package, image and process. */
  readonly name: string;
  /** CamelCase, singular. */
  readonly kind: string;
  readonly group: string;
}

const template = inRepository("apps/cli/src/init/template");

/** Writes a function's files, but for those that follow from its code. @returns their paths below the folder. */
export function writeScaffold(folder: string, names: Names): readonly string[] {
  const paths = globSync("**/*", { cwd: template }).filter((path) => statSync(join(template, path)).isFile());
  return paths.sort().map((path) => {
    const name = renamed(path, names).replace(/^(?=(?:gitignore|npmrc)$)/, ".");
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), renamed(readFileSync(join(template, path), "utf8"), names));
    return name;
  });
}

/** The template is a function of its own, `greeter`, which is checked and tested like all others here. */
function renamed(text: string, { name, kind, group }: Names): string {
  const words: Readonly<Record<string, string>> = {
    greeter: name,
    Greeting: kind,
    greeting: kind.toLowerCase(),
    "example.com": group,
    REPOSITORY: inRepository("").replace(/\/$/, ""),
  };
  return text.replaceAll(/greeter|[Gg]reeting|example\.com|REPOSITORY/g, (word) => words[word] ?? word);
}
