/**
 * Drover's work queue beside bare BullMQ and bare Redis, on a real server, in real processes.
 *
 *     npm run bench:queue                     every question; writes results.md
 *     npm run bench:queue -- --quick          under a minute, one round: shows that it works
 *     npm run bench:queue -- --only runs,idle only these questions
 *
 * Only a full run that comes to its end writes results.md and the README's summary; the others print what they found.
 */
import { startRedis } from "@drover/local-servers";
import { cpus, type } from "node:os";
import { parseArgs } from "node:util";
import { machineLoad } from "./measures/machine-load.ts";
import { serverVersion } from "./measures/server-figures.ts";
import { full, quick } from "./plan.ts";
import { goals } from "./report/goals.ts";
import { report } from "./report/report.ts";
import { writeReport } from "./report/write-report.ts";
import { noResults, type Question, questions } from "./results.ts";
import { measureRecovery } from "./stages/recovery.ts";
import { measureThroughput } from "./stages/throughput.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean" }, only: { type: "string" } } });
const only = values.only?.split(",");
const unknown = only?.filter((word) => !questions.some((question) => question === word)) ?? [];
if (unknown.length > 0) {
  console.error(`There is no question ${unknown.join(", ")}. The questions are: ${questions.join(", ")}.`);
  process.exit(2);
}
const asked = (question: Question): boolean => only?.includes(question) ?? true;

const plan = values.quick === true ? quick : full;
const results = noResults();
const began = performance.now();
const seconds = (): string => ((performance.now() - began) / 1_000).toFixed(0);
const progress = (line: string): void => console.error(`${seconds()} s: ${line}`);

const busyBefore = await machineLoad();
const server = await startRedis({ persistence: false });
const version = await serverVersion(server);
try {
  const stage = { server, plan, results, asked, progress };
  if (["memory", "wakes", "idle", "runs", "time"].some((each) => only?.includes(each) ?? true)) {
    await measureThroughput(stage);
  }
  await measureRecovery(stage);
} catch (error) {
  // What was measured until then is shown all the same.
  console.error(error);
  process.exitCode = 1;
} finally {
  await server.stop();
}
const busyAfter = await machineLoad();
progress("done");

const text = report(results, {
  command: ["npm run bench:queue", ...(process.argv.length > 2 ? ["--", ...process.argv.slice(2)] : [])].join(
    " ",
  ),
  machine: `${cpus().length} cores, ${type()}`,
  server: version,
  node: process.version,
  rounds: plan.rounds,
  busy: [busyBefore, busyAfter],
});
if (process.argv.length > 2 || process.exitCode === 1) console.log(text);
else await writeReport(text, goals(results), import.meta.dirname);
