import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildVariables, isThere } from "./languages.ts";

const root = new URL("../../..", import.meta.url).pathname;

interface Suite {
  readonly folder: string;
  readonly command: readonly string[];
  /** The program that must be there, with its least version; by default the command's. */
  readonly needs?: string;
  readonly passed: RegExp;
}

const cargoTest = {
  command: ["cargo", "test", "--locked", "--quiet"],
  needs: "cargo 1.91",
  passed: /^test result: ok\. [1-9]/m,
};
const cargoFormat = { command: ["cargo", "fmt", "--check"], needs: "cargo-fmt", passed: /^$/ };

/** The tests of the packages, and of the examples that have their own, by the test tools of their languages. */
const suites: readonly Suite[] = [
  {
    folder: "sdk/python",
    command: ["python3", "-m", "unittest", "discover", "-s", "tests"],
    passed: /^OK$/m,
  },
  { folder: "examples/python/website", command: ["python3", "-m", "unittest"], passed: /^OK$/m },
  { folder: "sdk/go/drover", command: ["go", "test", "./..."], passed: /^ok/m },
  { folder: "sdk/go/drover", command: ["go", "vet", "./..."], passed: /^$/ },
  { folder: "sdk/go/drover", command: ["gofmt", "-l", "."], passed: /^$/ },
  { folder: "examples/go", command: ["gofmt", "-l", "."], passed: /^$/ },
  { folder: "examples/go/website", command: ["go", "test", "./..."], passed: /^ok/m },
  ...["sdk/rust", "examples/rust/website"].map((folder) => ({ folder, ...cargoTest })),
  ...["sdk/rust", "examples/rust/website", "examples/rust/greetings"].map((folder) => ({
    folder,
    ...cargoFormat,
  })),
];

const variables = [...buildVariables, `PYTHONPATH=${join(root, "sdk/python")}`, "PYTHONDONTWRITEBYTECODE=1"];

for (const { folder, command, needs = command[0] ?? "", passed } of suites) {
  const title = `${command.join(" ")}, in ${folder}`;
  it.skipIf(!isThere(needs))(
    isThere(needs) ? title : `${title} (skipped: no ${needs} on this machine)`,
    () => {
      // unittest writes its report to the standard error.
      const output = execFileSync("sh", ["-c", 'env "$@" 2>&1', "sh", ...variables, ...command], {
        cwd: join(root, folder),
      });
      expect(output.toString()).toMatch(passed);
    },
    300_000,
  );
}
