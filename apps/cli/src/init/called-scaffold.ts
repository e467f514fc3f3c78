import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { repositoryPath } from "#repository-path";
import { version } from "../package/version.ts";
import { type FunctionNames, withDot } from "./scaffold.ts";
import { calledSources } from "./sources.ts";

/** The languages of functions that are called over HTTP and for which there is a package. */
export const calledLanguages = ["python", "go"] as const;
export type CalledLanguage = (typeof calledLanguages)[number];

/** The commands that test a new function. */
export const testCommands = {
  python: ["python3", "-m", "unittest"],
  go: ["go", "test", "."],
} as const satisfies Record<CalledLanguage, readonly string[]>;

/**
 * Writes a function that is called: the example in its language with other names, and a copy of the language's package,
 * since that is not published.
 *
 * @returns the paths of its files, relative to the folder.
 */
export function writeCalledScaffold(
  folder: string,
  names: FunctionNames,
  language: CalledLanguage,
): readonly string[] {
  const { sdk, examples } = calledSources[language];
  const own = examples.flatMap((source) =>
    filesIn(source).map((path) => {
      const target = withDot(path);
      write(
        join(folder, target),
        renamed(readFileSync(repositoryPath(join(source, path)), "utf8"), names, sdk),
      );
      return target;
    }),
  );
  const copied = filesIn(sdk)
    .filter((path) => !path.endsWith("_test.go"))
    .map((path) => {
      const target = join("drover", path);
      write(join(folder, target), readFileSync(repositoryPath(join(sdk, path)), "utf8"));
      return target;
    });
  return [...own, ...copied].sort();
}

/** The files of a folder of the repository, without what is built from them. */
function filesIn(folder: string): readonly string[] {
  const root = repositoryPath(folder);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith("__pycache__"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Replaces the example's names. The function of the example is called publisher. */
function renamed(text: string, { name, kind, plural, group }: FunctionNames, sdk: string): string {
  const words: Readonly<Record<string, string>> = {
    publisher: name,
    Website: kind,
    website: kind.toLowerCase(),
    websites: plural,
    "example.com": group,
    DROVER_VERSION: version,
    [`../../../${sdk}`]: "./drover",
  };
  return text.replaceAll(
    /publisher|websites|[Ww]ebsite|example\.com|DROVER_VERSION|(?:\.\.\/)+sdk\/[a-z]+\/drover/g,
    (word) => words[word] ?? word,
  );
}
