/**
 * # What does it cost to remove a function whose finalizer is on a thousand objects?
 *
 * `npm run bench:removal` releases them with `drover remove --release` and deletes their namespace, beside a namespace with as many
 * objects that never had a finalizer, in turns on one control plane. Writes results.md; with `-- --little` it prints.
 */
import { customResourceDefinition, finalizerOf, objectKey, ReconcileFunction } from "@drover/controller";
import { builtin, connect, installCrd, type KubeClient, kindOf, refOf } from "@drover/kube";
import { startClusterWithFakeNodes } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { exampleKind } from "../../verification/harness/example-kind.ts";
import { spread } from "../../verification/harness/spread.ts";
import { circumstances, percents } from "../report/command-line.ts";
import { writeResults } from "../report/write-report.ts";

const { values } = parseArgs({ options: { little: { type: "boolean", default: false } } });
const [objects, rounds] = values.little ? [50, 1] : [1_000, 5];
const Cup = exampleKind("Cup");
const name = "cups";
const patience = 300_000;
const drover = fileURLToPath(new URL("../../apps/cli/src/main.ts", import.meta.url));
const run = promisify(execFile);

interface Round {
  /** Seconds: of the removal of the function, of the deletion of its namespace, and of the other namespace. */
  readonly removal: number;
  readonly namespace: number;
  readonly plain: number;
}

const ended = await circumstances("bench:removal");
const cluster = await startClusterWithFakeNodes({
  nodes: 0,
  controllers: ["garbage-collector-controller", "namespace-controller", "serviceaccount-controller"],
  log: console.error,
});
const client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "bench" });
const measured: Round[] = [];
try {
  for (const kind of [Cup, ReconcileFunction])
    await installCrd(client, { ...customResourceDefinition(kind) });
  for (let round = 0; round < rounds; round++) {
    const [first, second] = round % 2 === 0 ? [held, plain] : [plain, held];
    measured.push({ ...(await first(client, round)), ...(await second(client, round)) } as Round);
  }
} finally {
  await client.close();
  await cluster.stop();
}
const text = await report(measured);
if (values.little) console.log(text);
else await writeResults(text, import.meta.dirname);

async function held(client: KubeClient, round: number): Promise<Pick<Round, "removal" | "namespace">> {
  const namespace = `held-${round}`;
  await filled(client, namespace, [finalizerOf(name)]);
  await client.create(refOf(ReconcileFunction), {
    metadata: { namespace, name },
    spec: { for: { ...kindOf(refOf(Cup)), namespaces: [namespace] } },
  });
  const words = ["remove", name, "-n", namespace, "--release", "--kubeconfig", cluster.kubeconfig];
  const removal = await seconds(() => run(process.execPath, [drover, ...words]));
  return { removal, namespace: await seconds(() => deleted(client, namespace)) };
}

async function plain(client: KubeClient, round: number): Promise<Pick<Round, "plain">> {
  const namespace = `plain-${round}`;
  await filled(client, namespace, []);
  return { plain: await seconds(() => deleted(client, namespace)) };
}

/** Creates a namespace with objects. */
async function filled(client: KubeClient, namespace: string, finalizers: readonly string[]): Promise<void> {
  await client.create(builtin.namespace, { metadata: { name: namespace } });
  const left = Array.from({ length: objects }, (_, i) => `cup-${i}`).values();
  const createInTurn = async (): Promise<void> => {
    for (const one of left)
      await client.create(refOf(Cup), { metadata: { namespace, name: one, finalizers }, spec: {} });
  };
  await Promise.all(Array.from({ length: 10 }, createInTurn));
}

/** Deletes a namespace, and waits until it is gone. */
async function deleted(client: KubeClient, namespace: string): Promise<void> {
  const key = objectKey({ name: namespace });
  await client.delete(builtin.namespace, key);
  const end = performance.now() + patience;
  while ((await client.get(builtin.namespace, key)) !== undefined) {
    if (performance.now() > end) throw new Error(`${namespace} is not deleted.`);
    await delay(50);
  }
}

async function seconds(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await act();
  return (performance.now() - begun) / 1_000;
}

async function report(all: readonly Round[]): Promise<string> {
  const { command, machine, node, busy } = await ended();
  const median = (of: (round: Round) => number, digits: number): string =>
    spread(all.map(of)).median.toFixed(digits);
  return `<!-- Written by ${command}. -->

# What it costs to remove a function

${machine}, Node ${node}; the machine was busy ${percents(busy, " before and ")} after. ${objects} objects, medians of ${all.length} rounds.

| | seconds | ratio to the namespace without finalizers |
| --- | ---: | ---: |
| deletion of a namespace whose objects never had a finalizer | ${median(({ plain }) => plain, 1)} | 1 |
| \`drover remove --release\` | ${median(({ removal }) => removal, 1)} | ${median(({ removal, plain }) => removal / plain, 2)} |
| deletion of the namespace after that | ${median(({ namespace }) => namespace, 1)} | ${median(({ namespace, plain }) => namespace / plain, 2)} |
| both | ${median(({ removal, namespace }) => removal + namespace, 1)} | ${median(({ removal, namespace, plain }) => (removal + namespace) / plain, 2)} |
`;
}
