// The real cluster for people: `node tools/real-cluster/src/main.ts up`.
import { once } from "node:events";
import { buildRealCluster } from "./build.ts";
import { startClusterWithNode } from "./node/start-with-node.ts";
import { startClusterWithFakeNodes } from "./fake-nodes/start-with-fake-nodes.ts";
import { type RealCluster, startRealCluster } from "./start.ts";

const usage = `usage: node tools/real-cluster/src/main.ts COMMAND
  up           build what is missing, start an API server, and end it with Ctrl-C
  up --fake    the same with the whole control plane and a node that only pretends to run pods
  up --node    the same with a node on which pods run (takes root, on Linux)
  build        only build what \`up\` needs`;

const log = (line: string) => console.error(line);
const interrupted = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => interrupted.abort());
const { signal } = interrupted;

try {
  await run(process.argv.slice(2).join(" "));
} catch (error) {
  // After Ctrl-C, no message is needed.
  if (!signal.aborted) log(error instanceof Error ? error.message : String(error));
  process.exitCode = signal.aborted ? 130 : 1;
}

async function run(command: string): Promise<void> {
  if (command === "up") await up(await startRealCluster({ log, signal }));
  else if (command === "up --fake") await up(await startClusterWithFakeNodes({ log, signal }));
  else if (command === "up --node") await upWithNode();
  else if (command === "build") await build();
  else {
    log(usage);
    process.exitCode = 2;
  }
}

async function build(): Promise<void> {
  const { bin } = await buildRealCluster({ log, signal });
  log(`The programs are in ${bin}`);
}

async function up(cluster: RealCluster): Promise<void> {
  console.log(`export KUBECONFIG=${cluster.kubeconfig}`);
  log(
    `The API server is ${cluster.url}, a kubectl for it ${cluster.kubectl}. Ctrl-C ends it and forgets its data.`,
  );
  if (!signal.aborted) await once(signal, "abort");
  await cluster.stop();
}

async function upWithNode(): Promise<void> {
  const cluster = await startClusterWithNode({ log, signal });
  console.log(`export KUBECONFIG=${cluster.kubeconfigOutside}`);
  log(
    `The node is ready. To run a program inside: nsenter -m -n -p -t ${cluster.pid} COMMAND. Ctrl-C ends it all.`,
  );
  if (!signal.aborted) await once(signal, "abort");
  await cluster.stop();
}
