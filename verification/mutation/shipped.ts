import { execFileSync } from "node:child_process";

/** TypeScript files below these folders of a work tree that are no tests, nor made for tests. */
export const shippedFiles = (root: string, folders: readonly string[]): readonly string[] =>
  execFileSync("git", ["ls-files", ...folders.map((folder) => `${folder}/src/**.ts`)], { cwd: root })
    .toString()
    .split("\n")
    .filter((path) => path.endsWith(".ts") && !OF_TESTS.test(path));

const OF_TESTS =
  /\/(testing(?!\/src\/fault-proxy)|ledger-contract|ledgers-agree|client-go|init\/template)\/|\.(test|contract|fixture|faults)\.ts$/;
