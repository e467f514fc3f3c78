import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isThere } from "./languages.ts";

const root = new URL("../../..", import.meta.url).pathname;

/** The tests of the packages, and of the examples that have their own, by the test tools of their languages. */
const suites = [
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
];

for (const { folder, command, passed } of suites) {
  const [program = "", ...args] = command;
  const title = `${command.join(" ")}, in ${folder}`;
  it.skipIf(!isThere(program))(
    isThere(program) ? title : `${title} (skipped: no ${program} on this machine)`,
    () => {
      const env = { ...process.env, PYTHONPATH: join(root, "sdk/python"), PYTHONDONTWRITEBYTECODE: "1" };
      // unittest writes its report to the standard error.
      const output = execFileSync("sh", ["-c", '"$@" 2>&1', "sh", program, ...args], {
        cwd: join(root, folder),
        env,
      });
      expect(output.toString()).toMatch(passed);
    },
    300_000,
  );
}
