/**
 * Drover's work queue compared with bare BullMQ and bare Redis, on a real server, in real processes.
 *
 *     npm run bench:queue                     every question; writes results.md
 *     npm run bench:queue -- --quick          under a minute, one round: shows that it works
 *     npm run bench:queue -- --only runs,idle only these questions
 *
 * Only a full run that comes to its end writes results.md and the README's summary; the others print what they found.
 */
import { startRedis } from "@drover/local-servers";
import { parseArgs } from "node:util";
import { chosen, circumstances, progressSince } from "../report/command-line.ts";
import { serverVersion } from "./measures/server-figures.ts";
import { full, quick } from "./plan.ts";
import { goals } from "./report/goals.ts";
import { report } from "./report/report.ts";
import { writeReport } from "../report/write-report.ts";
import { noResults, questions } from "./results.ts";
import { measureRecovery } from "./stages/recovery.ts";
import { measureThroughput } from "./stages/throughput.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean" }, only: { type: "string" } } });
const asked = chosen(values.only, questions);
const plan = values.quick === true ? quick : full;
const results = noResults();
const progress = progressSince();
const ended = await circumstances("bench:queue");
const server = await startRedis({ persistence: false });
const version = await serverVersion(server);
try {
  const stage = { server, plan, results, asked, progress };
  if ((["memory", "wakes", "idle", "runs", "time"] as const).some(asked)) {
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
progress("done");

const text = report(results, { ...(await ended()), server: version, rounds: plan.rounds });
if (process.argv.length > 2 || process.exitCode === 1) console.log(text);
else await writeReport(text, goals(results), import.meta.dirname);
