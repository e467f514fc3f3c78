import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "./children.mjs";

/**
 * Runs vitest, and prints at the end the failed tests with their errors, in lines that begin with `! `, and the line
 * `N passed, N failed`. A file that fails before its first test counts as one that failed. The exit code is vitest's, and
 * never 0 when no test ran.
 */
export async function countedTests({ root, node, env, args }) {
  const folder = await mkdtemp(join(tmpdir(), "drover-test-"));
  const report = join(folder, "report.json");
  try {
    const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run"];
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const { code } = await run(node, [...vitest, ...reporters, ...args], { cwd: root, env });
    const { passed, failures } = outcomeIn(await readFile(report, "utf8").catch(() => "{}"));
    const failed = failures.length;
    for (const { name, message } of failures) console.log(quoted(`${relative(root, name)}\n${message}`));
    console.log(`${passed} passed, ${failed} failed`);
    if (passed + failed === 0) console.error("No test ran.");
    else if (code !== 0 && failed === 0) console.error("No test failed, and vitest did: see above.");
    return code === 0 && (failed > 0 || passed === 0) ? 1 : code;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function outcomeIn(text) {
  const { numPassedTests = 0, testResults = [] } = JSON.parse(text);
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === "failed");
    if (status === "failed" && failed.length === 0) return [{ name, message }];
    return failed.map(({ fullName, failureMessages }) => ({
      name: `${name}: ${fullName}`,
      message: failureMessages.join("\n"),
    }));
  });
  return { passed: numPassedTests, failures };
}

/** Shortened, because the message of a failure may contain an object or a log. */
const quoted = (text) =>
  text
    .split("\n")
    .filter((line) => !line.includes("/node_modules/") && !line.endsWith("<anonymous>)"))
    .slice(0, 40)
    .map((line) => `! ${line.slice(0, 300)}`)
    .join("\n");
