/**
 * `npm run plans`: whether `drover plan` shows what a run then does, on a real API server. After each of many random
 * changes (of declared children, of their settings, by other clients), a run is planned and then made, and the plan is
 * compared with all objects before and after, as the API server lists them.
 *
 *   npm run plans -- --changes 500 --seed 1
 */
import { startRealCluster } from "@drover/real-cluster";
import { parseArgs } from "node:util";
import { wholeNumber } from "../harness/whole-number.ts";
import { runPlans } from "./suite.ts";

const { values } = parseArgs({
  options: {
    changes: { type: "string", default: "500" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const changes = wholeNumber("changes", values.changes, 1);
const seed = wholeNumber("seed", values.seed);
const log = (line: string): void => console.error(line);

const cluster = await startRealCluster();
try {
  const { problems, actions } = await runPlans({
    cluster: { kubeconfig: cluster.kubeconfig },
    changes,
    seed,
    log,
  });
  for (const problem of problems) console.log(problem);
  const counts = [...actions].map(([action, times]) => `${action} ${times}`).sort();
  console.log(
    `${changes} changes, seed ${seed}: ${problems.length} plans differ from their runs; planned: ${counts.join(", ")}`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await cluster.stop();
}
