import { namesQueueOf, objectKey, queueOf, ReconcileFunction, silentLog } from "@drover/controller";
import { refOf } from "@drover/kube";
import { openWorkQueue, type WorkQueue } from "@drover/queue";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deployedFunctions } from "../deployed-functions.ts";
import { liveFigures } from "../status/function-figures.ts";
import { noteKind, notesWorldOfFile, noteWake } from "../testing/notes-world.fixture.ts";
import { type ListRequest, listKeys } from "./list-keys.ts";
import { retryAll } from "./retry.ts";
import { findTarget } from "./target.ts";

const world = await notesWorldOfFile([]);
let memos: WorkQueue;
let looked: WorkQueue;
const wakes = (...names: readonly string[]) => names.map((name) => noteWake(name));
const secrets = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };
const deployed = (name: string, more: object = {}, also: object = {}) =>
  world.client.create(refOf(ReconcileFunction), {
    metadata: { name, namespace: "default" },
    spec: { for: { ...noteKind, ...more }, container: { image: "i" }, ...also },
  });

/** `memos`, `notes` and `papers`, of which only the first two have a queue here; memos' code is asked about Secrets. */
beforeAll(async () => {
  const { connection: redis } = world;
  const { metadata } = await deployed(
    "memos",
    { namespaces: ["web"] },
    { watches: [{ ...secrets, names: { code: true } }] },
  );
  await deployed("papers", { scope: "Cluster" });
  const open = (controller: ReturnType<typeof queueOf>) =>
    openWorkQueue({ redis, controller, log: silentLog });
  [memos, looked] = [open(queueOf(metadata)), open(namesQueueOf(queueOf(metadata), secrets))];
  await memos.wake(wakes("m1", "m2", "m3"));
  await world.queue.wake(wakes("n1", "n2"));
  await looked.wake(wakes("s1"));
});
afterAll(() => Promise.all([memos.close(), looked.close()]));

const cluster = () => ({ client: world.client, namespace: "default" });
const listed = async (request: Partial<ListRequest>) => {
  const found: string[] = [];
  const summary = await listKeys(
    cluster(),
    world.connection,
    { state: undefined, function: undefined, allNamespaces: false, limit: Infinity, ...request },
    ({ fn, keys }) => Promise.resolve(void found.push(...keys.map(({ key }) => `${fn} ${key}`))),
  );
  return { found, ...summary };
};

it("lists the keys of all functions, and names those that have no queue in this Redis", async () => {
  const { found, keys, absent } = await listed({});
  expect(found.map((one) => one.replaceAll("default/", ""))).toEqual([
    ...["memos m1", "memos m2", "memos m3", "notes n1", "notes n2"],
  ]);
  expect([keys, absent]).toEqual([5, ["default/papers"]]);
  expect(await listed({ state: "parked" })).toMatchObject({ keys: 0 });
});

it.each([1, 3, 4, 5, 9])("lists no more than %i keys of all functions together", async (limit) => {
  const { found, keys } = await listed({ limit });
  expect([found.length, keys]).toEqual([Math.min(limit, 5), Math.min(limit, 5)]);
});

it("a function that is named and has no queue here is an error", async () => {
  await expect(listed({ function: "papers" })).rejects.toThrow("This Redis has no queue of default/papers");
});

it("counts a function's keys in all its queues", async () => {
  const functions = await deployedFunctions(world.client, "default");
  const figures = await Promise.all(functions.map((one) => liveFigures(world.connection, one)));
  expect(figures.map((one) => one?.due)).toEqual([4, 2, undefined]);
  await looked.pause({ kind: "controller" }, "test");
  const [first] = functions;
  expect(first && (await liveFigures(world.connection, first))).toMatchObject({ due: 3, paused: 1 });
  await looked.resume({ kind: "controller" });
});

it("retries what is parked and what waits after a failure, each once, and counts those that are paused", async () => {
  const verdicts: Record<string, "terminal" | "retry"> = { n1: "terminal", n2: "retry", n3: "terminal" };
  await world.queue.wake(wakes("n3", "n4"));
  let settled = 0;
  const worker = world.queue.work(
    ({ key }) => {
      const verdict = verdicts[key.slice("default/".length)];
      return Promise.resolve(
        verdict === undefined ? { kind: "done", after: 900_000 } : { kind: verdict, error: "no" },
      );
    },
    {
      concurrency: 4,
      timeout: 10_000,
      backoff: { first: 600_000, longest: 600_000 },
      onSettled: () => {
        settled += 1;
      },
    },
  );
  await expect.poll(() => settled).toBe(4);
  await worker.drain(0);
  await world.queue.pause({ kind: "object", key: objectKey({ namespace: "default", name: "n1" }) }, "test");
  expect(await retryAll(world.queue, "def")).toEqual({ keys: 0, paused: 0 });
  expect(await retryAll(world.queue, "default")).toEqual({ keys: 3, paused: 1 });
  expect(await world.queue.stats(5_000)).toMatchObject({ parked: 0, due: 2, paused: 1, scheduled: 1 });
});

it.each([
  ["memos", "other", /default\/memos manages no objects in namespace other, but in: web\./],
  ["papers", "web", /Note is cluster-scoped: give --all, or an object\./],
])("all objects of %s in namespace %s cannot be meant", async (first, within, problem) => {
  const servers = { client: world.client, redis: world.connection };
  const words = { command: "pause", first, second: undefined, in: within, all: false };
  await expect(findTarget(cluster(), servers, words)).rejects.toThrow(problem);
});

it.each([
  [
    { first: "memos", in: "web" },
    { kind: "namespace", namespace: "web" },
    "drover resume default/memos --in web",
  ],
  [
    { first: "notes", in: "web" },
    { kind: "namespace", namespace: "web" },
    "drover resume default/notes --in web",
  ],
  [{ first: "memos", all: true }, { kind: "controller" }, "drover resume default/memos --all"],
  [
    { first: "memos", second: "web/a" },
    { kind: "object", key: "web/a" },
    "drover resume default/memos web/a",
  ],
  [{ first: "papers", second: "a" }, { kind: "object", key: "a" }, "drover resume default/papers a"],
])("%j is one scope, shown with the command that resumes it", async (given, expected, resume) => {
  const servers = { client: world.client, redis: world.connection };
  const words = { command: "pause", second: undefined, in: undefined, all: false, ...given };
  expect(await findTarget(cluster(), servers, words)).toMatchObject({ scope: expected, resume });
});
