import { ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, connect, isObjectEvent, type KubeClient, refOf, runReflector } from "@drover/kube";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { execFileSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { folderOfFile } from "../../../../../packages/testing/src/folder.fixture.ts";
import {
  type DeployedNotes,
  deployNotes,
  makeNotesFunction,
  noteIn,
  noteKey,
  notes,
  witnessedRuns,
} from "../../testing/deployed-notes.fixture.ts";
import { type DevProcess, startDevProcess, waitUntilGone } from "../../testing/dev-process.fixture.ts";

const base = folderOfFile();
const folder = join(base, "notes");
const witness = join(base, "witness");
let cluster: RealCluster;
let admin: KubeClient;
let deployed: DeployedNotes;
/** The file of a user who has the permissions of `rules`. */
let kubeconfig: string;

beforeAll(async () => {
  makeNotesFunction(folder);
  writeFileSync(witness, "");
  cluster = await startRealCluster();
  admin = await connect({ kubeconfig: cluster.kubeconfig });
  await admin.create(builtin.serviceAccount, { metadata: { name: "ada", namespace: "default" } });
  kubeconfig = await cluster.kubeconfigOfAccount("default", "ada");
  deployed = await deployNotes({ folder, client: admin, kubeconfig: cluster.kubeconfig, witness });
}, 900_000);
afterAll(async () => {
  await deployed.stop();
  await admin.close();
  await cluster.stop();
});

const start = (...words: readonly string[]): Promise<DevProcess> =>
  startDevProcess(["--kubeconfig", kubeconfig, ...words], {
    cwd: folder,
    temporary: base,
    env: { WITNESS: witness, ACTOR: "session" },
  });

/** Binds `ada` to these permissions, in all namespaces or in `default` only. */
function grant(kind: "ClusterRole" | "Role", rules: readonly object[]): void {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const metadata = { name: "ada", ...(kind === "Role" && { namespace: "default" }) };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind, name: "ada" };
  const subjects = [{ kind: "ServiceAccount", name: "ada", namespace: "default" }];
  const items = [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects },
  ];
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  execFileSync(cluster.kubectl, ["apply", "-f", "-"], { input });
}
const rule = (apiGroup: string, resource: string, ...verbs: readonly string[]) => ({
  apiGroups: [apiGroup],
  resources: [resource],
  verbs,
});
const ofNotes = [
  rule("tests.example.com", "notes", "get", "list", "watch", "patch"),
  rule("tests.example.com", "notes/status", "update"),
  rule("events.k8s.io", "events", "create", "patch"),
];

it(
  "a user who lacks permissions gets all of them listed before anything starts",
  { timeout: 120_000 },
  async () => {
    const one = await start();
    expect(await one.ended).toBe(1);
    expect(one.output())
      .toBe(`error: The user of this kubeconfig does not have all permissions that the function needs:
  - list reconcilefunctions of drover.dev in all namespaces
  - list notes of tests.example.com in all namespaces
  - watch notes of tests.example.com in all namespaces
  - get notes of tests.example.com in all namespaces
  - patch notes of tests.example.com in all namespaces
  - update notes/status of tests.example.com in all namespaces
  - create events of events.k8s.io in all namespaces
  - patch events of events.k8s.io in all namespaces
Get these permissions, restrict the session with --namespace, or let the function ask for less.
`);
  },
);

it(
  "permissions in one namespace are enough for a session that is restricted to it",
  { timeout: 120_000 },
  async () => {
    grant("Role", ofNotes);
    grant("ClusterRole", [rule("drover.dev", "reconcilefunctions", "list")]);
    await admin.create(notes, { metadata: { name: "local", namespace: "default" }, spec: { count: 1 } });
    const one = await start("--namespace", "default", "--object", "local");
    await one.next(/Note default\/local runs here now/);
    await one.next(/run {4}default\/local done/);
    const all = one.descendants();
    one.kill("SIGINT");
    expect(await one.ended).toBe(0);
    await waitUntilGone(all);
    expect(one.output()).not.toMatch(/[Ff]orbidden|403/);
  },
);

const names = ["a", "b", "c", "d", "e"];
/** Sessions, one after the other. More of them: `DEV_SESSIONS=24 DROVER_TEST_CLUSTER=real npx vitest run` with this file. */
const rounds = Number(process.env["DEV_SESSIONS"] ?? 4);
const some = <T>(all: readonly T[]): readonly T[] => all.filter(() => Math.random() < 0.6);
const pick = <T>(first: T, ...others: readonly T[]): T =>
  [first, ...others][Math.floor(Math.random() * (others.length + 1))] ?? first;
const mark = (what: "here" | "left", keys: readonly string[]): void =>
  keys.forEach((key) => appendFileSync(witness, `test 0 ${what} default/${key}\n`));

/** Records when the label of a note is gone. */
const recordFreed = (signal: AbortSignal) =>
  runReflector({
    client: admin,
    ref: notes,
    labelSelector: "drover.dev/dev",
    log: silentLog,
    signal,
    onEvents: (events) =>
      events
        .filter(isObjectEvent)
        .filter(({ type }) => type === "deleted")
        .forEach(({ key }) => appendFileSync(witness, `test 0 free ${key}\n`)),
  });

/** Changes each note, often in the middle of its runs, and waits until it is reconciled, again and again. */
function writers() {
  const counts = new Map(names.map((name) => [name, 1]));
  const waiting: { readonly at: number; readonly resolve: (done: undefined) => void }[] = [];
  let written = 0;
  const stop = new AbortController();
  const isStopped = (): boolean => stop.signal.aborted;
  const change = async (name: string): Promise<void> => {
    const count = (counts.get(name) ?? 0) + 1;
    await admin.patch(notes, noteKey(name), { type: "merge", body: { spec: { count } } });
    counts.set(name, count);
    written++;
    for (const one of waiting) if (one.at <= written) one.resolve(undefined);
  };
  const isReconciled = async (name: string): Promise<boolean> => {
    const status = statusSchema.safeParse((await noteIn(admin, name))?.["status"]).data;
    return status?.count === counts.get(name);
  };
  const write = async (name: string): Promise<void> => {
    while (!isStopped()) {
      for (let burst = 0; burst <= Math.random() * 4; burst++) await change(name);
      while (!(await isReconciled(name)) && !isStopped()) await delay(50);
    }
  };
  const done = Promise.all(names.map(write));
  return {
    /** Until so many more changes were written: a random moment, without a clock. */
    more(changes: number): Promise<undefined> {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      waiting.push({ at: written + changes, resolve });
      return promise;
    },
    async stop(): Promise<ReadonlyMap<string, number>> {
      stop.abort();
      await done;
      return counts;
    },
  };
}
const statusSchema = z.looseObject({ count: z.number() });

/** Ends a session as Ctrl-C does, or as a crash does; then the label is removed by the command that was printed. */
async function end(
  one: DevProcess,
  keys: readonly string[],
  signal: "SIGINT" | "SIGTERM" | "SIGKILL",
): Promise<void> {
  const all = one.descendants();
  if (signal !== "SIGKILL") mark("left", keys);
  one.kill(signal);
  expect(await one.ended).toBe(signal === "SIGKILL" ? "SIGKILL" : 0);
  await waitUntilGone(all);
  if (signal !== "SIGKILL") return;
  const [, command = ""] = /^ +kubectl (label .* drover\.dev\/dev-)$/m.exec(one.output()) ?? [];
  mark("left", keys);
  execFileSync(cluster.kubectl, command.split(" "));
}

it(
  `the deployed function and ${rounds} sessions never run an object at once, and no change is lost`,
  { timeout: 1_800_000 },
  async () => {
    grant("ClusterRole", [rule("drover.dev", "reconcilefunctions", "list"), ...ofNotes]);
    for (const name of names)
      await admin.create(notes, { metadata: { name, namespace: "default" }, spec: { count: 1 } });
    const freed = new AbortController();
    const recorder = recordFreed(freed.signal);
    const changes = writers();
    const ends = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      const chosen = [...new Set([pick("a", ...names), ...some(names)])];
      const crash = pick(false, false, true)
        ? changes.more(Math.random() * 30).then(() => deployed.crash())
        : undefined;
      const one = await start(...chosen.flatMap((name) => ["--object", name]));
      for (const name of chosen) {
        await expect
          .poll(() => one.output(), { timeout: 60_000 })
          .toMatch(new RegExp(`Note default/${name} runs here now`));
        mark("here", [name]);
      }
      await changes.more(Math.random() * 30);
      const signal = pick("SIGINT", "SIGINT", "SIGTERM", "SIGKILL");
      ends.set(signal, (ends.get(signal) ?? 0) + 1);
      await end(one, chosen, signal);
      await crash;
      await changes.more(Math.random() * 30);
    }
    const counts = await changes.stop();
    for (const [name, count] of counts)
      await expect
        .poll(() => noteIn(admin, name))
        .toMatchObject({ spec: { count }, status: { count, by: "deployed" } });
    freed.abort();
    await recorder.done;
    const runs = witnessedRuns(witness);
    const of = (actor: string): number => runs.filter(({ by }) => by === actor).length;
    console.log({ rounds, ends, deployed: of("deployed"), session: of("session") });
    expect(Math.min(of("deployed"), of("session"))).toBeGreaterThan(rounds);
    for (const name of names) {
      const note = await noteIn(admin, name);
      expect(note?.metadata.labels).toBeUndefined();
      expect(JSON.stringify(note)).not.toContain("UnderDevelopment");
    }
    expect(await admin.list(refOf(ReconcileFunction))).toMatchObject({ items: [expect.anything()] });
  },
);
