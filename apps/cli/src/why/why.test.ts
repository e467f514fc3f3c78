import {
  customResourceDefinition,
  objectKey,
  queueOf,
  ReconcileFunction,
  silentLog,
} from "@drover/controller";
import { builtin, createOrReplace, installCrd, refOf } from "@drover/kube";
import { openWorkQueue, type Run, type RunOutcome } from "@drover/queue";
import { beforeAll, expect, it } from "vitest";
import { findAbsentParts } from "../find-absent-parts.ts";
import { Note } from "../testing/notes.ts";
import { noteKey, noteKind, notesWorldOfFile, noteWake } from "../testing/notes-world.fixture.ts";
import { plainKind } from "../testing/plain-kind.ts";
import { expectError, runDroverAgain } from "../testing/run-command.ts";

/** What a run of an object of that name comes to. */
const verdicts: Readonly<Record<string, RunOutcome>> = {
  failing: { kind: "retry", error: "\u001b[31mred\u009b alert\u202e" },
  parked: { kind: "terminal", error: "colour is immutable" },
  well: { kind: "done", after: 3_600_000 },
  resting: { kind: "done" },
  throttled: { kind: "throttled", account: "team", after: 600_000 },
};
const world = await notesWorldOfFile([...Object.keys(verdicts), "due", "unqueued"]);
const { connection, client, queue, redis, kubeconfig } = world;
// As kubectl, it passes over a file that does not exist.
const env = { KUBECONFIG: `/absent/kubeconfig:${kubeconfig}`, DROVER_REDIS_URL: redis.url };
const drover = (...words: readonly string[]) => runDroverAgain(words, { env });

beforeAll(async () => {
  await client.create(builtin.namespace, { metadata: { name: "drover" } });
  for (const part of ["bridge", "deployer"]) await leaseFor(part, new Date(), 3_600);
  const settled = new Set<string>();
  const all = Promise.withResolvers<undefined>();
  const onSettled = ({ key }: Run): void => {
    if (settled.add(key).size === Object.keys(verdicts).length) all.resolve(undefined);
  };
  const worker = queue.work(
    ({ key }) => Promise.resolve(verdicts[key.slice("default/".length)] ?? { kind: "gone" }),
    { concurrency: 4, timeout: 10_000, backoff: { first: 600_000, longest: 600_000 }, onSettled },
  );
  await queue.wake(Object.keys(verdicts).map((name) => noteWake(name)));
  await all.promise;
  await worker.drain(0);
  await queue.wake([noteWake("due")]);
});
/** As a replica of the part renews it. */
const leaseFor = (name: string, renewed: Date, leaseDurationSeconds = 4) =>
  createOrReplace(client, builtin.lease, {
    metadata: { name, namespace: "drover" },
    spec: { renewTime: `${renewed.toISOString().slice(0, -1)}000Z`, leaseDurationSeconds },
  });

it.each([
  [
    "failing",
    /^Note default\/failing is tried again in \d+m, after 1 failure; a change makes it run at once: /,
  ],
  ["parked", /^Note default\/parked is parked until it changes, .*: colour is immutable\n/],
  ["well", /^Note default\/well is reconciled, and runs again in \d+m/],
  ["resting", /^Note default\/resting is idle: nothing is due/],
  ["throttled", /^Note default\/throttled is due, and waits for its account team, .* another \d+m/],
  ["due", /^Note default\/due has been due for \w+, and waits for a Pod of notes: none is Ready/],
  ["unqueued", /^Note default\/unqueued is not in the ledger: the bridge/],
  ["absent", /^Note default\/absent does not exist/],
])("drover why explains an object that is %s", async (name, sentence) => {
  const { stdout, code } = await drover("why", `note/${name}`);
  expect(stdout).toMatch(sentence);
  // Text of an object cannot send control characters to a terminal.
  expect(stdout).toMatch(/^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]*$/);
  expect(code).toBe(0);
});

it("knows a kind by all names that its CRD gives it, as kubectl does", async () => {
  const at = objectKey({ name: "notes.example.com" });
  const names = { singular: "jotting", shortNames: ["nt"] };
  await client.patch(builtin.crd, at, { type: "merge", body: { spec: { names } } });
  for (const word of [
    "nt",
    "jotting",
    "Note",
    "notes",
    "note.example.com",
    "nt.example.com",
    "default/notes",
  ]) {
    const { stdout, stderr } = await drover("why", word, "resting");
    expect(stderr + stdout).toMatch(/^Note default\/resting is idle/);
  }
  await expectError(drover("why", "nts", "resting"), /^error: No function manages "nts"/);
});

it("explains an object whose kind is no longer served, and passes on any other refusal", async () => {
  const answering = async (status: number) => {
    const heal = world.sandbox.faults.respond(({ path }) =>
      path.endsWith("/notes/parked") ? { status } : undefined,
    );
    const ran = await drover("why", "note/parked");
    heal();
    return ran;
  };
  expect(await answering(404)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ {2}object +does not exist\n/) as string,
  });
  expect(await answering(403)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("The API server answered 403") as string,
  });
});

it("shows what woke the object, how its runs ended, and when it runs next", async () => {
  const { stdout } = await drover("why", "notes", "failing");
  expect(stdout).toMatch(/ {2}state +waits \(backoff\)\n/);
  expect(stdout).toMatch(/ {2}next run +\d{4}-.*Z\n/);
  expect(stdout).toMatch(/ago +\w+ +retry +Modified +\[31mred +alert/);
  const { stdout: json } = await drover("why", "notes.example.com", "default/failing", "-o", "json");
  expect(json).toMatch(/^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]*$/);
  expect(JSON.parse(json)).toMatchObject({
    kind: "Note",
    key: "default/failing",
    function: "default/notes",
    queue: {
      state: "waits",
      why: "backoff",
      fails: 1,
      error: verdicts["failing"] && "\u001b[31mred\u009b alert\u202e",
    },
    runs: [{ verdict: "retry", trigger: ["Modified"] }],
  });
});

it("drover why and status show a function with a bridge in its process", async () => {
  const spoon = plainKind({ kind: "Spoon" });
  await installCrd(client, { ...customResourceDefinition(spoon) });
  await client.create(refOf(spoon), { metadata: { name: "old", namespace: "default" }, spec: {} });
  const words = ["why", "spoons.example.com/old"];
  expect((await drover(...words)).stderr).toMatch(/No function manages "spoons\.example\.com"/);
  const spoons = openWorkQueue({
    redis: connection,
    controller: queueOf({ name: "spoons.example.com" }),
    log: silentLog,
  });
  await spoons.wake([{ ...noteWake("old"), kind: "spoons.example.com" }]);
  expect((await drover(...words)).stdout).toMatch(/^Spoon default\/old has been due for /);
  const status = await drover("status", "spoons.example.com");
  expect(status.stdout).toMatch(/^-( +)spoons\.example\.com +- +- +- +- +1 +0 /m);
  await spoons.close();
});

it("drover why shows a pause annotation that the queue has not recorded yet, and one with an invalid value", async () => {
  const annotate = (value: string | null) =>
    client.patch(refOf(Note), noteKey("unqueued"), {
      type: "merge",
      body: { metadata: { annotations: { "drover.dev/paused": value } } },
    });
  await annotate("true");
  expect((await drover("why", "note/unqueued")).stdout).toMatch(
    /^Note default\/unqueued does not run: it has the annotation drover\.dev\/paused, and is paused by \S+ for \w+ \(to resume it: take /,
  );
  await annotate("yes");
  const { stdout } = await drover("why", "note/unqueued");
  expect(stdout).toMatch(/^Note default\/unqueued is not in the ledger/);
  expect(stdout).toMatch(
    /annotation +drover\.dev\/paused is "yes", which pauses nothing: only "true" does\n/,
  );
  await annotate(null);
});

it.each([
  [["why", "cup/a"], /No function manages "cup"\. There are: default\/notes\./],
  [["why", "note"], /Which object\? Write: drover why note NAMESPACE\/NAME/],
  [["why", "note", "a/b/c"], /"a\/b\/c" is not a valid object name/],
  [["why", "note/a", "--redis", "localhost"], /--redis/],
  [["why", "note/a", "--redis", "redis://127.0.0.1:1"], /127\.0\.0\.1:1/],
  [["why", "note/a", "--kubeconfig", "/nowhere"], /There is no such file\. Give the path of a kubeconfig/],
  [["why", "note/a", "-o", "yaml"], /Allowed choices are text, json/],
  [
    ["status", "cups"],
    /There is no function cups in namespace default\. There are: notes\. -A looks in all namespaces/,
  ],
  [["staus"], /Did you mean status\?/],
])("%j is refused, with what to do", async (words, problem) => {
  const stderr = await expectError(drover(...words), problem);
  expect(stderr).not.toMatch(/^ +at /m);
});

it("of several functions for a kind the one whose namespaces have the object is meant, or one is to be named", async () => {
  const also = (name: string, namespace: string, more: object = {}) =>
    client.create(refOf(ReconcileFunction), {
      metadata: { name, namespace },
      spec: { for: { ...noteKind, ...more } },
    });
  await client.create(builtin.namespace, { metadata: { name: "other" } });
  await also("notes", "other", { namespaces: ["other"] });
  expect((await drover("why", "note/well")).stdout).toContain("function    default/notes\n");
  await also("memos", "other");
  const { stderr } = await drover("why", "note/well");
  expect(stderr).toMatch(
    /Several functions manage "note": default\/notes, other\/memos\. Write: drover why default\/notes NAME\n$/,
  );
  for (const [word, named] of [
    ["memos", "other/memos"],
    ["other/notes", "other/notes"],
  ] as const) {
    await expectError(
      drover("why", word, "well"),
      new RegExp(`This Redis has no queue of ${named}\\. .* Redis of its own .* --redis`),
    );
  }
  const all = await drover("status", "-A");
  expect(all.stderr).toMatch(
    /^Live counts from Redis\.\nThis Redis has no queue of other\/memos, other\/notes\./,
  );
  const one = await drover("status", "memos", "-n", "other");
  expect(one.stderr).toMatch(/This Redis has no queue of other\/memos\./);
  // To ask makes nothing in a Redis that is another's.
  expect(await connection.keys("{drover:other/*")).toEqual([]);
  for (const name of ["notes", "memos"]) {
    await client.delete(refOf(ReconcileFunction), objectKey({ namespace: "other", name }));
  }
});

it("without Redis, why reports how to name it, and status shows the figures of the status alone", async () => {
  const { KUBECONFIG } = env;
  const { stderr } = await runDroverAgain(["why", "note/a"], { env: { KUBECONFIG } });
  expect(stderr).toContain("This command reads the queue in Redis: give --redis, or set DROVER_REDIS_URL.");
  const { stdout } = await runDroverAgain(["status", "-o", "json"], { env: { KUBECONFIG } });
  expect(JSON.parse(stdout)).toMatchObject({ figures: "status", functions: [{ name: "notes" }] });
});

it("status counts what Redis has now", async () => {
  const { stdout } = await drover("status", "-A", "-o", "json");
  expect(JSON.parse(stdout)).toMatchObject({
    figures: "redis",
    functions: [{ name: "notes", due: 2, running: 0, waiting: 2, failing: 1, parked: 1 }],
  });
});

const longAgo = new Date(Date.UTC(2026, 0, 1));

it("names the part of Drover that does not run, and since when", async () => {
  await leaseFor("deployer", longAgo);
  await client.delete(builtin.lease, objectKey({ namespace: "drover", name: "bridge" }));
  const words = [
    "No bridge has ever run: changes of objects start no runs. See: kubectl get pods -n drover",
    "No deployer has run since 2026-01-01T00:00:00Z: changes of functions, and of how many Pods they need, have no " +
      "effect. See: kubectl get pods -n drover",
  ];
  const [first, ...lines] = (await drover("why", "default/notes", "well")).stdout.split("\n");
  expect(first).toMatch(/^Note default\/well is reconciled/);
  expect(lines.slice(0, 3)).toEqual([...words, ""]);
  const json = await drover("status", "notes", "-o", "json");
  expect(JSON.parse(json.stdout)).toMatchObject({ notRunning: words });
  // Elsewhere there is none at all.
  const other = await drover("status", "--drover-namespace", "other");
  expect(other.stderr).toMatch(/^No bridge has ever run: .*\nNo deployer has ever run: .* -n other\n/);
});

it("believes a Lease that is renewed while it looks, whatever time stands in it", async () => {
  for (const part of ["bridge", "deployer"]) await leaseFor(part, longAgo);
  let waits = 0;
  const wait = (): Promise<unknown> => (waits++ === 1 ? leaseFor("bridge", new Date(1)) : Promise.resolve());
  const absent = await findAbsentParts(client, { namespace: "drover", parts: ["bridge", "deployer"], wait });
  expect(absent?.map(({ part }) => part)).toEqual(["deployer"]);
});

it("explains a deleted object whose function is gone: its finalizer, and how to remove it", async () => {
  const fork = plainKind({ kind: "Fork", shortNames: ["fk"] });
  await installCrd(client, { ...customResourceDefinition(fork) });
  const finalizers = ["drover.dev/forks.example.com", "example.com/others"];
  const at = noteKey("left");
  await client.create(refOf(fork), {
    metadata: { name: "left", namespace: "default", finalizers },
    spec: {},
  });
  await client.create(refOf(fork), { metadata: { name: "free", namespace: "default" }, spec: {} });
  expect((await drover("why", "fork/left")).stdout).toMatch(
    /^Fork default\/left will stay when it is deleted, because it has the finalizer drover\.dev\/forks\.example\.com: no /,
  );
  await client.delete(refOf(fork), at);
  // Redis may be gone, too.
  const { stdout, code } = await runDroverAgain(["why", "fk", "left"], {
    env: { KUBECONFIG: env.KUBECONFIG },
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^Fork default\/left has been terminating since 20\S+, and waits for its finalizer drover\.dev\/forks\.example\.com to be removed: no/,
  );
  const [, patch = ""] = /--type=merge -p '(.*)'/.exec(stdout) ?? [];
  expect(JSON.parse(patch)).toEqual({ metadata: { finalizers: ["example.com/others"] } });
  await client.patch(refOf(fork), at, { type: "merge", body: JSON.parse(patch) as object });
  const waiting = await drover("why", "fork/left");
  expect(waiting.stderr).toMatch(/No function manages "fork"/);
  expect((await drover("why", "fork/free")).stderr).toMatch(/No function manages "fork"/);
});
