import { startRealCluster } from "@drover/real-cluster";
import { type FaultReport, sharedServer, testFaults } from "@drover/testing";
import { bugs } from "./bugs.ts";

/** Every planted bug and its twin on a real API server: what is found must not be the sandbox's doing. */
const cluster = await startRealCluster({ log: (line) => console.error(line) });
const view = await cluster.startStaleView();
const servers = sharedServer({ kubeconfig: cluster.kubeconfig, staleView: () => Promise.resolve(view) });
const counted = ({ plans }: FaultReport, outcome: "differs" | "unexecuted"): number =>
  plans.filter((plan) => plan.outcome === outcome).length;

let [found, plans, wrong] = [0, 0, 0];
try {
  for (const [{ broken, right }, ...kinds] of bugs) {
    const report = await testFaults({ ...broken, servers });
    const differing = report.plans
      .filter(({ outcome }) => outcome === "differs")
      .map(({ plan }) => plan.kind);
    const isFound = differing.length >= 2 && kinds.every((kind) => differing.includes(kind));
    const twin = await testFaults({ ...right, servers });
    const amiss = [report, twin].flatMap((each) => each.problems);
    const [of, unexecuted] = [
      counted(twin, "differs"),
      counted(report, "unexecuted") + counted(twin, "unexecuted"),
    ];
    if (isFound) found++;
    plans += report.plans.length + twin.plans.length;
    wrong += of + unexecuted + amiss.length;
    console.log(
      `${broken.name}: ${isFound ? "found" : "NOT FOUND"} by ${differing.length} of ${report.plans.length} plans; ` +
        `mended: ${of} of ${twin.plans.length}${unexecuted > 0 ? `; ${unexecuted} unexecuted` : ""}` +
        amiss.map((problem) => `; ${problem}`).join(""),
    );
  }
} finally {
  await cluster.stop();
}
console.log(
  `${bugs.length} planted bugs, ${plans} plans on a real API server: ${found} found, ${wrong} false or unexecuted`,
);
process.exitCode = found === bugs.length && wrong === 0 ? 0 : 1;
