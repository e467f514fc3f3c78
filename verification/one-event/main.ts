/**
 * # How many files does one change of an object pass through?
 *
 *     npm run one-event                  counts, and fails above the limits
 *     npm run one-event -- --files       lists the files, too
 *
 * A real etcd, API server and Redis; a bridge and the controller `greetings` of the examples, each in a process with V8's
 * profiler. An object is changed ten times. A function belongs to the path of a change if it is called in each of the
 * ten windows, from the request until the status of the new generation can be read. So work that does not belong to
 * the change, such as the renewal of a lease, is not counted.
 */
import { customResourceDefinition, objectKey, reconcileFunctionOf } from "@drover/controller";
import { connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { startRedis } from "@drover/local-servers";
import { startRealCluster } from "@drover/real-cluster";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Greeting, greetings } from "../../examples/typescript/greeting.ts";
import { root } from "../harness/repository-files.ts";
import { startProcess } from "../harness/start-process.ts";
import { type CalledFunctions, openCalledFunctions } from "./called-functions.ts";

const { values } = parseArgs({ options: { files: { type: "boolean", default: false } } });
const changes = 10;
/** Between the watch frame and the status that is written. */
const limits = { files: 60, borders: 4 };
/** Keys, numbers, and waits, which all other packages use. A change does not pass from one of them to the next. */
const libraries: ReadonlySet<string> = new Set(["packages/controller", "packages/json", "packages/timers"]);

await using stack = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), "drover-one-event-"));
stack.defer(() => rmSync(folder, { recursive: true }));
const [cluster, redis] = await Promise.all([
  startRealCluster({ log: (line) => console.error(line) }),
  startRedis({ persistence: true }),
]);
stack.defer(async () => {
  await Promise.all([cluster.stop(), redis.stop()]);
});
const client = await connect({ kubeconfig: cluster.kubeconfig });
await installCrd(client, { ...customResourceDefinition(Greeting) });
writeFileSync(join(folder, "functions.yaml"), JSON.stringify(reconcileFunctionOf(greetings())));

const key = objectKey({ namespace: "default", name: "world" });
await client.create(refOf(Greeting), {
  metadata: { name: "world", namespace: "default" },
  spec: { name: "0" },
});
const processes = [
  await start("bridge", "apps/bridge/src/main.ts", "; watching", {
    DROVER_FUNCTIONS: join(folder, "functions.yaml"),
    DROVER_AUTHORS: "trusted",
  }),
  await start("function", "verification/one-event/greetings-function.ts", "Taking keys"),
];
await untilGreeted(client, "0");

const windows: ReadonlySet<string>[] = [];
for (let change = 1; change <= changes; change++) {
  for (const each of processes) await each.take();
  await client.patch(refOf(Greeting), key, { type: "merge", body: { spec: { name: String(change) } } });
  await untilGreeted(client, String(change));
  const called = (await Promise.all(processes.map((each) => each.take()))).flat();
  windows.push(new Set(called.map(({ url, offset }) => `${url}#${offset}`)));
}
for (const each of processes) each.close();
process.exitCode = report(windows);

/** Starts a process with an inspector, and counts its calls. */
async function start(
  name: string,
  main: string,
  ready: string,
  env: Readonly<Record<string, string>> = {},
): Promise<CalledFunctions> {
  const inspector = Promise.withResolvers<string>();
  const child = await startProcess({
    name,
    main,
    awaited: ready,
    logFile: join(folder, `${name}.log`),
    env: {
      NODE_OPTIONS: "--inspect=127.0.0.1:0",
      DROVER_KUBECONFIG: cluster.kubeconfig,
      DROVER_REDIS_URL: redis.url,
      ...env,
    },
    onLine(line) {
      const [, url] = /^Debugger listening on (ws:\S+)/.exec(line) ?? [];
      if (url !== undefined) inspector.resolve(url);
    },
  });
  stack.defer(async () => {
    await child.stop();
  });
  return openCalledFunctions(await inspector.promise);
}

/** Waits until the status has the greeting of this name. */
async function untilGreeted(kube: KubeClient, name: string): Promise<void> {
  for (;;) {
    const object = await kube.get(refOf(Greeting), key);
    if (JSON.stringify(object?.["status"] ?? {}).includes(`"text":"Hello, ${name}!"`)) return;
  }
}

/** Prints the counts. @returns the exit code. */
function report(all: readonly ReadonlySet<string>[]): number {
  const [first = new Set<string>(), ...others] = all;
  const inEach = [...first].filter((one) => others.every((other) => other.has(one)));
  const source = new URL(`file://${root}`).href;
  const files = [
    ...new Set(
      inEach
        .map((one) => one.slice(0, one.lastIndexOf("#")))
        .filter((url) => url.startsWith(source) && !url.includes("/node_modules/"))
        .map((url) => url.slice(source.length)),
    ),
  ].sort();
  const byPackage = Map.groupBy(files, (file) => file.split("/").slice(0, 2).join("/"));
  for (const [name, own] of byPackage) {
    console.log(`${String(own.length).padStart(4)}  ${name}`);
    if (values.files) for (const file of own) console.log(`        ${file}`);
  }
  const borders = [...byPackage.keys()].filter((name) => !libraries.has(name)).length - 1;
  console.log(`One change passes through ${files.length} files and ${borders} borders of packages.`);
  return files.length <= limits.files && borders <= limits.borders ? 0 : 1;
}
