import { objectKey, queueOf, ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, refOf } from "@drover/kube";
import { openWorkQueue, type QueueWorker, redisUserRules, type Run, type RunOutcome } from "@drover/queue";
import { hostname } from "node:os";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { noteKey, noteKind, notesWorldOfFile, noteWake } from "../testing/notes-world.fixture.ts";
import { expectError, runDroverAgain, spawnDrover } from "../testing/run-command.ts";
import { operatorName } from "./target.ts";

const bell = "\u001b[31mred\u009b alert\u202e";
const verdicts: Readonly<Record<string, RunOutcome>> = {
  failing: { kind: "retry", error: `no route to ${bell}` },
  parked: { kind: "terminal", error: "colour is immutable" },
  well: { kind: "done", after: 3_600_000 },
  resting: { kind: "done" },
};
const world = await notesWorldOfFile([...Object.keys(verdicts), "due", "unqueued"]);
const { connection, client, queue, redis, controller, kubeconfig } = world;
const env = { KUBECONFIG: kubeconfig, DROVER_REDIS_URL: redis.url.replace("//", "//operator:secret@") };
/** What an operator runs, as that user of Redis. */
const drover = (...words: readonly string[]) => runDroverAgain(words, { env });

beforeAll(async () => {
  for (const name of ["other", "def"]) await client.create(builtin.namespace, { metadata: { name } });
  await queue.stats(10_000);
  const rules = redisUserRules({ role: "operator", controllers: [controller] });
  await connection.call("ACL", "SETUSER", "operator", ...rules.split(" "), ">secret");
});

const keysIn = (table: string): readonly string[] =>
  table
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.split(/ {2,}/)[1] ?? "")
    .sort();

describe("of objects whose runs have ended", () => {
  let worker: QueueWorker | undefined;
  let ran: string[] = [];
  const runs = (all: Readonly<Record<string, RunOutcome>>): QueueWorker =>
    (worker = queue.work(
      ({ key }: Run) => Promise.resolve(all[key.slice("default/".length)] ?? { kind: "done" }),
      {
        concurrency: 4,
        timeout: 10_000,
        backoff: { first: 600_000, longest: 600_000 },
        onSettled: ({ key }) => void ran.push(key),
      },
    ));
  /** Every object's run has ended, and one is due. */
  beforeEach(async () => {
    ran = [];
    const first = runs(verdicts);
    await queue.wake(Object.keys(verdicts).map((name) => noteWake(name)));
    await expect.poll(() => new Set(ran).size, { timeout: 20_000 }).toBe(Object.keys(verdicts).length);
    await first.drain(0);
    await queue.wake([noteWake("due")]);
    ran = [];
  });
  afterEach(async () => {
    await worker?.drain(0);
    // All is done, and nothing is left of the test before.
    const last = runs({});
    for (const scope of [
      { kind: "controller" },
      { kind: "namespace", namespace: "default" },
      { kind: "object", key: noteKey("parked") },
    ] as const)
      await queue.resume(scope);
    await queue.forceAll();
    await expect
      .poll(async () => {
        const { due, running, parked, scheduled, failing } = await queue.stats(10_000);
        return due + running + parked + scheduled + failing;
      })
      .toBe(0);
    await last.drain(0);
  });

  it.each([
    [[], ["default/due", "default/failing", "default/parked", "default/well"]],
    [["--state", "due"], ["default/due"]],
    [["--state", "parked"], ["default/parked"]],
    [
      ["--state", "waiting"],
      ["default/failing", "default/well"],
    ],
    [["--state", "failing"], ["default/failing"]],
    [["--state", "paused"], []],
    [["--state", "running"], []],
    [["--reason", "IMMUTABLE"], ["default/parked"]],
    [["--reason", "backoff"], ["default/failing"]],
    [["--in", "other"], []],
    [["--limit", "1", "--state", "waiting"], ["default/failing"]],
  ])("drover list %j", async (words, keys) => {
    const { stdout, stderr, code } = await drover("list", "notes", ...words);
    expect({ stderr: stderr.slice(0, 12), code }).toEqual({
      stderr: keys.length === 0 ? "No object is" : "",
      code: 0,
    });
    expect(keysIn(stdout)).toEqual(keys);
    // Text of an object cannot send control characters to a terminal.
    expect(stdout).toMatch(/^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]*$/);
  });

  it("lists for programs, as one JSON array, of all functions of a namespace", async () => {
    const { stdout } = await drover("list", "--state", "failing", "-o", "json");
    expect(stdout).toMatch(/^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]*$/);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        function: "default/notes",
        key: "default/failing",
        state: "waiting",
        failures: 1,
        reason: "backoff",
        error: `no route to ${bell}`,
        pauses: [],
      },
    ]);
    expect(JSON.parse((await drover("list", "--state", "paused", "-o", "json")).stdout)).toEqual([]);
  });

  it("drover history shows how the last runs ended", async () => {
    const { stdout } = await drover("history", "note/failing");
    expect(stdout).toMatch(
      /^ENDED +TOOK +VERDICT +WOKEN BY +ERROR\n.* ago +\w+ +retry +Modified +no route to/,
    );
    const { stdout: json } = await drover("history", "note", "default/parked", "-o", "json");
    expect(JSON.parse(json)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ verdict: "terminal", error: "colour is immutable" }),
      ]),
    );
    expect((await drover("history", "note/unqueued")).stderr).toBe(
      "No run of Note default/unqueued is recorded; drover why shows its state.\n",
    );
  });

  it("drover retry runs an object that is parked", async () => {
    const { stdout } = await drover("retry", "note/parked");
    expect(stdout).toBe("Note default/parked is due now.\n");
    runs({});
    await expect.poll(() => ran.sort()).toEqual(["default/due", "default/parked"]);
  });

  it("drover retry runs what failed or is parked, of a namespace or of a function, and nothing else", async () => {
    for (const none of ["other", "def"])
      expect((await drover("retry", "notes", "--in", none)).stdout).toMatch(/^None is parked or has failed/);
    expect((await drover("retry", "notes", "--in", "default")).stdout).toMatch(
      /^Retried 2: all objects of default\/notes/,
    );
    const next = runs(verdicts);
    await expect.poll(() => ran.sort()).toEqual(["default/due", "default/failing", "default/parked"]);
    await next.drain(0);
    expect((await drover("retry", "default/notes", "--all")).stdout).toMatch(/^Retried 2:/);
    runs({});
    await expect.poll(() => ran.length).toBe(5);
  });

  it("drover pause holds an object back, drover why shows it, and drover resume lets it go on", async () => {
    const { stdout: printed } = await drover("pause", "note/parked");
    expect(printed).toMatch(
      /^Paused: Note default\/parked\. .* drover resume default\/notes default\/parked\n$/,
    );
    const { stdout: why } = await drover("why", "note/parked");
    expect(why).toMatch(
      /paused by \S+@\S+ for \w+ \(to resume it: drover resume default\/notes default\/parked\)/,
    );
    expect((await drover("retry", "note/parked")).stdout).toMatch(/is due, but it is paused by/);
    const next = runs({});
    await expect.poll(() => ran).toEqual(["default/due"]);
    expect(keysIn((await drover("list", "notes", "--state", "paused")).stdout)).toEqual(["default/parked"]);
    await next.drain(0);
    const words = /drover (resume .*)\n/.exec(printed)?.[1]?.split(" ") ?? [];
    expect((await drover(...words)).stdout).toBe("Resumed: Note default/parked.\n");
    expect((await drover(...words)).stdout).toBe("Note default/parked was not paused by itself.\n");
    runs({});
    await expect.poll(() => ran).toEqual(["default/due", "default/parked"]);
  });

  it.each(["--in default", "--all"])(
    "drover pause %s holds all of a function's objects back",
    async (scope) => {
      const given = scope.split(" ");
      expect((await drover("pause", "notes", ...given)).stdout).toMatch(
        /^Paused: all objects of default\/notes/,
      );
      expect((await drover("resume", "note/due")).stdout).toMatch(
        /was not paused by itself\. It still does not run: .* is paused by/,
      );
      runs({});
      await queue.wake([noteWake("elsewhere", "other")]);
      await expect.poll(() => ran).toEqual(given.length === 2 ? ["other/elsewhere"] : []);
      expect((await drover("resume", "notes", ...given)).stdout).toMatch(/^Resumed: all objects/);
      await expect.poll(() => ran).toContain("default/due");
    },
  );
});

it("drover list reads 100,000 objects in little memory", async () => {
  const { metadata } = await client.create(refOf(ReconcileFunction), {
    metadata: { name: "many", namespace: "other" },
    spec: { for: noteKind, container: { image: "notes" } },
  });
  const large = openWorkQueue({ redis: connection, controller: queueOf(metadata), log: silentLog });
  await large.wake(Array.from({ length: 100_000 }, (_, i) => noteWake(`n${i}`, "other")));
  await large.close();
  // All of them at once would not fit into this heap, which a process has from its start.
  const { stdout, stderr, code } = await spawnDrover(["list", "other/many", "--state", "due"], {
    env: { ...env, DROVER_REDIS_URL: redis.url, NODE_OPTIONS: "--max-old-space-size=80" },
  });
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(new Set(keysIn(stdout)).size).toBe(100_000);
  await client.delete(refOf(ReconcileFunction), objectKey({ namespace: "other", name: "many" }));
}, 180_000);

it.each([
  [["list", "cups"], /No function manages "cups"\. There are: default\/notes\./],
  [
    ["list", "notes", "--state", "lost"],
    /Allowed choices are due, running, waiting, paused, parked, failing/,
  ],
  [["list", "notes", "--limit", "0"], /Give a whole number from 1 on/],
  [
    ["retry", "notes"],
    /Which object\? Write: drover retry notes NAMESPACE\/NAME, or give --in NAMESPACE or --all/,
  ],
  [["retry", "note/nothing"], /There is no Note default\/nothing\./],
  [["retry", "note/a/b/c"], /is not a valid object name/],
  [["pause", "note/nothing"], /There is no Note default\/nothing\./],
  [["pause", "notes", "due", "--all"], /leave out "due", or the option/],
  [["pause", "notes", "--in", "nowhere"], /There is no namespace nowhere\./],
  [["pause", "notes", "--in", "default", "--all"], /Give --all or --in, not both/],
  [["pause", "cup/a"], /No function manages "cup"/],
  [["history", "notes"], /Which object\? Write: drover history notes NAMESPACE\/NAME/],
  [["resume", "note/a", "--redis", "redis://127.0.0.1:1"], /127\.0\.0\.1:1/],
])("%j is refused, with what to do", async (words, problem) => {
  const stderr = await expectError(drover(...words), problem);
  expect(stderr).not.toMatch(/^ +at /m);
});

const answering = async (status: number, part: string, ...words: readonly string[]) => {
  const heal = world.sandbox.faults.respond(({ path }) => (path.endsWith(part) ? { status } : undefined));
  const { stdout, stderr, code } = await drover(...words);
  heal();
  return { printed: stdout + stderr, code };
};

it.each([
  ["/notes/due", ["note/due"], { kind: "object", key: noteKey("due") }],
  ["/namespaces/nowhere", ["notes", "--in", "nowhere"], { kind: "namespace", namespace: "nowhere" }],
] as const)(
  "a user who may not read %s may pause it, and any other refusal is an error",
  async (part, words, scope) => {
    const { printed, code } = await answering(400, part, "pause", ...words);
    expect([printed, code]).toEqual([expect.stringContaining("The API server answered 400"), 1]);
    const pauses = async () =>
      (await queue.inspect(noteKey("due", "nowhere"))).key.pauses.concat(
        (await queue.inspect(noteKey("due"))).key.pauses,
      );
    expect(await pauses()).toEqual([]);
    expect(await answering(403, part, "pause", ...words)).toMatchObject({
      code: 0,
      printed: expect.stringMatching(/^Paused: /) as string,
    });
    expect(await pauses()).toMatchObject([{ scope: scope.kind }]);
    await queue.resume(scope);
  },
);

it("names an operator by the user id where that has no name", () => {
  expect(operatorName(() => ({ username: "ada" }))).toBe(`ada@${hostname()}`);
  const nameless = operatorName(() => {
    throw new Error("ENOENT: no such file or directory, uv_os_get_passwd");
  });
  expect(nameless).toBe(`${process.getuid?.() ?? "somebody"}@${hostname()}`);
});

it("a CRD that may not be read is no function's, and any other refusal is an error", async () => {
  const crd = "cups.example.com";
  await connection.hset(`{drover:${queueOf({ name: crd })}}:control`, "a", "b");
  const rules = redisUserRules({ role: "operator", controllers: [queueOf({ name: crd })] });
  await connection.call("ACL", "SETUSER", "operator", ...rules.split(" "), ">secret");
  expect(await answering(403, `/${crd}`, "list", crd)).toEqual({
    printed: 'error: No function manages "cups.example.com". There are: default/notes.\n',
    code: 1,
  });
  expect(await answering(400, `/${crd}`, "list", crd)).toMatchObject({
    printed: expect.stringContaining("The API server answered 400") as string,
    code: 1,
  });
});

it.each(["list", "retry", "pause", "resume", "history"])(
  "drover %s without Redis reports how to name it",
  async (name) => {
    const { KUBECONFIG } = env;
    await expectError(
      runDroverAgain([name, "note/a"], { env: { KUBECONFIG } }),
      "This command reads the queue in Redis: give --redis, or set DROVER_REDIS_URL.",
    );
  },
);
