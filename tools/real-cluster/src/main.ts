// The real cluster for people: `node tools/real-cluster/src/main.ts up`.
import { once } from "node:events";
import { buildRealCluster } from "./build.ts";
import { startRealCluster } from "./start.ts";

const usage = `usage: node tools/real-cluster/src/main.ts COMMAND
  up      build what is missing, start a cluster, and end it with Ctrl-C
  build   only build`;

const log = (line: string) => console.error(line);
const interrupted = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => interrupted.abort());
const { signal } = interrupted;

try {
  await run(process.argv[2]);
} catch (error) {
  // Nobody needs to be told that they pressed Ctrl-C.
  if (!signal.aborted) log(error instanceof Error ? error.message : String(error));
  process.exitCode = signal.aborted ? 130 : 1;
}

async function run(command: string | undefined): Promise<void> {
  if (command === "up") await up();
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

async function up(): Promise<void> {
  const cluster = await startRealCluster({ log, signal });
  console.log(`export KUBECONFIG=${cluster.kubeconfig}`);
  log(
    `The API server is ${cluster.url}, a kubectl for it ${cluster.kubectl}. Ctrl-C ends it and forgets its data.`,
  );
  if (!signal.aborted) await once(signal, "abort");
  await cluster.stop();
}
