import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { exportsOf } from "../repository/exports-of.ts";

/** The problems that publint, and arethetypeswrong for ECMAScript modules, find in a tarball. */
export async function findProblems(tarball: string): Promise<readonly string[]> {
  const bytes = readFileSync(tarball);
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer } });
  const analysis = await checkPackage(createPackageFromTarballData(bytes));
  const problems = analysis.types === false ? ["no types"] : analysis.problems.flatMap(describe);
  return [...messages.map((message) => formatMessage(message, pkg) ?? message.code), ...problems];
}

/** Node before 12.7, and TypeScript's `node10`, know no `exports`. That a CommonJS module gets an ECMAScript module is meant. */
const describe = (problem: object): readonly string[] => {
  const text = JSON.stringify(problem);
  return /"node10"|"CJSResolvesToESM"/.test(text) ? [] : [text];
};

/** The names that each subpath exports, values and types, by TypeScript's declarations: the sources' or the built ones. */
export const namesOf = (folder: string, entries: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(entries).map(([subpath, file]) => [
      join("drover", subpath),
      exportsOf(join(folder, file)).toSorted(),
    ]),
  );
