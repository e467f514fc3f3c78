import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./children.mjs";

/**
 * Runs vitest, and says at the end `N passed, N failed`, alone on a line. A file that fails before its first test
 * counts as one that failed. The exit code is vitest's, and never 0 when no test ran.
 */
export async function countedTests({ root, node, env, args }) {
  const folder = await mkdtemp(join(tmpdir(), "drover-test-"));
  const report = join(folder, "report.json");
  try {
    const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run"];
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const { code } = await run(node, [...vitest, ...reporters, ...args], { cwd: root, env });
    const { passed, failed } = countIn(await readFile(report, "utf8").catch(() => "{}"));
    console.log(`${passed} passed, ${failed} failed`);
    if (passed + failed === 0) console.error("No test ran.");
    else if (code !== 0 && failed === 0) console.error("No test failed, and vitest did: see above.");
    return code === 0 && (failed > 0 || passed === 0) ? 1 : code;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function countIn(text) {
  const { numPassedTests = 0, numFailedTests = 0, testResults = [] } = JSON.parse(text);
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  return { passed: numPassedTests, failed: numFailedTests + broken.length };
}
