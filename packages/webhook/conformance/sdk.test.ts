import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildVariables, isThere, maven } from "./languages.ts";

const root = new URL("../../..", import.meta.url).pathname;

interface Suite {
  readonly folder: string;
  readonly command: readonly string[];
  /** The programs that must be there, with their least versions; by default the command's. */
  readonly needs?: readonly string[];
  readonly passed: RegExp;
}

const cargoTest = {
  command: ["cargo", "test", "--locked", "--quiet"],
  needs: ["cargo 1.91"],
  passed: /^test result: ok\. [1-9]/m,
};
const cargoFormat = { command: ["cargo", "fmt", "--check"], needs: ["cargo-fmt"], passed: /^$/ };

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
  {
    // The package and both examples.
    folder: "examples/java",
    command: [...maven, "package"],
    needs: ["javac 17", "mvn", "flock"],
    passed: /Tests run: [1-9]\d*, Failures: 0, Errors: 0, Skipped: 0\n[^]*BUILD SUCCESS/,
  },
  ...["sdk/rust", "examples/rust/website"].map((folder) => ({ folder, ...cargoTest })),
  ...["sdk/rust", "examples/rust/website", "examples/rust/greetings"].map((folder) => ({
    folder,
    ...cargoFormat,
  })),
];

const variables = [...buildVariables, `PYTHONPATH=${join(root, "sdk/python")}`, "PYTHONDONTWRITEBYTECODE=1"];

for (const { folder, command, needs = command.slice(0, 1), passed } of suites) {
  const missing = needs.filter((need) => !isThere(need));
  const title = `${command.join(" ").replaceAll(root, "")}, in ${folder}`;
  it.skipIf(missing.length > 0)(
    missing.length === 0 ? title : `${title} (skipped: no ${missing.join(", ")} on this machine)`,
    () => {
      // unittest writes its report to the standard error.
      const { status, stdout } = spawnSync("sh", ["-c", 'env "$@" 2>&1', "sh", ...variables, ...command], {
        cwd: join(root, folder),
        encoding: "utf8",
        maxBuffer: 64 << 20,
      });
      expect(status, stdout).toBe(0);
      expect(stdout).toMatch(passed);
    },
    300_000,
  );
}
