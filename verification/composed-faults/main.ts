/**
 * Random declared children with every derived fault: `npm run faults:composed -- --plans 10000 --seed 1`. In the sandbox; with
 * `--real` on a real API server.
 */
import { connect } from "@drover/kube";
import { startClusterWithFakeNodes } from "@drover/real-cluster";
import { reportFaults, sharedServer } from "@drover/testing";
import { parseArgs } from "node:util";
import { untilCollected } from "../function-faults/until-collected.ts";
import { randomScenario } from "./random-scenario.ts";

const { values } = parseArgs({
  options: {
    plans: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    real: { type: "boolean", default: false },
  },
});
const [wanted, first] = [Number(values.plans), Number(values.seed)];
if (![wanted, first].every(Number.isSafeInteger)) {
  console.error("Give whole numbers: --plans 1000 --seed 1.");
  process.exit(2);
}

async function realServers() {
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
  return { servers, stop: () => client.close().then(() => cluster.stop()) };
}

const real = values.real ? await realServers() : undefined;
const servers = real === undefined ? {} : { servers: real.servers };
let [plans, different, seed] = [0, 0, first];
try {
  for (; plans < wanted; seed++) {
    const counts = await reportFaults([{ ...randomScenario(seed), ...servers }], (text) => console.log(text));
    plans += counts.plans;
    different += counts.different;
  }
} finally {
  await real?.stop();
}
console.log(`${plans} plans of ${seed - first} scenarios, seeds from ${first}: ${different} differ`);
process.exit(different === 0 ? 0 : 1);
