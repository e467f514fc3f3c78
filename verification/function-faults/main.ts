/**
 * The fault scenarios of our workload functions, of load balancers and of composed controllers, on a real API server, with
 * kube-controller-manager's garbage collector beside it: `npm run faults:functions`, or `npm run faults:functions -- rolled`
 * for one of them. In `npm test` they run on the sandbox. `children-17` are the random children of seed 17.
 */
import { connect } from "@drover/kube";
import { startClusterWithFakeNodes } from "@drover/real-cluster";
import { reportFaults, type Scenario, sharedServer } from "@drover/testing";
import { failing, placed } from "../../functions/daemonset/src/daemon-set.faults.ts";
import { forbidden, forgotten, replaced, ticked } from "../../functions/cronjob/src/cron-job.faults.ts";
import { recreated, rolled } from "../../functions/deployment/src/deployment.faults.ts";
import { counted, indexed, suspended } from "../../functions/job/src/job.faults.ts";
import { published, repurposed } from "../../functions/endpointslice/src/endpoint-slice.faults.ts";
import { followed } from "../../functions/load-balancer/src/load-balancer.faults.ts";
import { composed, waves } from "../../packages/compose/src/compose.faults.ts";
import { adopted, scaled } from "../../functions/replicaset/src/replica-set.faults.ts";
import { randomScenario } from "../composed-faults/random-scenario.ts";
import { untilCollected } from "./until-collected.ts";

const scenarios = {
  adopted,
  scaled,
  recreated,
  rolled,
  followed,
  composed,
  waves,
  counted,
  indexed,
  suspended,
  published,
  repurposed,
  placed,
  failing,
  ticked,
  forgotten,
  replaced,
  forbidden,
};
const named = process.argv.slice(2);
const known = new Map<string, Scenario>(Object.entries(scenarios));
const chosen = (named.length === 0 ? [...known.keys()] : named).map((name) => {
  const [, seed] = /^children-(\d+)$/.exec(name) ?? [];
  const scenario = seed === undefined ? known.get(name) : randomScenario(Number(seed));
  if (scenario !== undefined) return scenario;
  console.error(
    `There are these scenarios: ${[...known.keys()].join(", ")}, and children-1, children-2 and so on.`,
  );
  return process.exit(2);
});

const cluster = await startClusterWithFakeNodes({
  nodes: 0,
  controllers: ["garbage-collector-controller", "serviceaccount-controller"],
  log: (line) => console.error(line),
});
const { kubeconfig } = cluster;
const client = await connect({ kubeconfig, userAgent: "test" });
const view = await cluster.startStaleView();
const servers = sharedServer({
  kubeconfig,
  staleView: () => Promise.resolve(view),
  collected: () => untilCollected(client),
});

let exitCode = 1;
try {
  const onCluster = chosen.map((scenario) => ({ ...scenario, servers }));
  const { plans, different } = await reportFaults(onCluster, (text) => console.log(text));
  console.log(`${plans} plans on a real API server: ${different} differ`);
  exitCode = different === 0 ? 0 : 1;
} finally {
  await client.close();
  await cluster.stop();
}
// The AWS server of the load balancers would keep this process.
process.exit(exitCode);
