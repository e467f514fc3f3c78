import { type Log, silentLog } from "@drover/controller";
import { groupOf } from "../streams/bridge-group.ts";
import { type FirstIncarnationStore, openFirstIncarnations } from "./first-incarnations.ts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { openQueues, type Queues } from "./open-queues.ts";

let known: FirstIncarnationStore;
let opened: Queues | undefined;
let warnings: unknown[];
const log: Log = { ...silentLog, warn: (fields, message) => warnings.push([message, fields]) };

const { redis } = await redisOfFile();
beforeEach(async () => {
  warnings = [];
  await redis.flushall();
  known = openFirstIncarnations(redis, groupOf());
});
afterEach(() => opened?.close());

const own = () => ({ redis, gone: new AbortController().signal });
const open = (of: Partial<FirstIncarnationStore>, redisFor = own): Queues =>
  (opened = openQueues({ known: { ...known, ...of }, redisFor, log, again: 5, onChange: () => undefined }));
const until = (look: () => Promise<void> | void) => vi.waitFor(look, { timeout: 20_000, interval: 5 });
const refused = () => Promise.reject(new Error("NOPERM"));

it("first incarnations that Redis refused to return are read again, and those of removed queues then deleted", async () => {
  await known.remember("gone", "o");
  let refuses = true;
  const queues = open({ all: () => (refuses ? refused() : known.all()) });
  queues.want(["a"]);
  await until(() => expect(queues.unresponsive().get("a")).toBe("NOPERM"));
  expect([...queues.firstIncarnations]).toEqual([]);
  await until(() =>
    expect(warnings).toContainEqual([
      "Could not delete the stored incarnations of removed controllers",
      { err: new Error("NOPERM") },
    ]),
  );
  refuses = false;
  await until(() => expect([...queues.firstIncarnations.keys()]).toEqual(["a"]));
  expect([[...queues.unresponsive()], queues.problems()]).toEqual([[], []]);
  queues.want(["a"]);
  await until(async () => expect([...(await known.all())]).toEqual([...queues.firstIncarnations]));
});

it("a silent queue keeps its stored first incarnation, even if that was unreadable at first", async () => {
  await known.remember("a", "as it was");
  let refuses = true;
  const queues = open({ all: () => (refuses ? refused() : known.all()) }, () => {
    throw new Error("not there");
  });
  queues.want(["a"]);
  await until(() => expect(warnings).toHaveLength(2));
  expect([...queues.firstIncarnations]).toEqual([]);
  refuses = false;
  await until(() => expect([...queues.firstIncarnations]).toEqual([["a", "as it was"]]));
});

it("a first incarnation that could not be deleted is deleted later, and other queues are opened meanwhile", async () => {
  let refuses = true;
  const queues = open({ forget: (names) => (refuses ? refused() : known.forget(names)) });
  queues.want(["a", "b"]);
  await until(() => expect(queues.firstIncarnations.size).toBe(2));
  queues.want(["a", "c"]);
  await until(() => expect([...queues.firstIncarnations.keys()].sort()).toEqual(["a", "c"]));
  await until(() => expect(warnings.length).toBeGreaterThan(0));
  expect(await known.all()).toHaveProperty("size", 3);
  refuses = false;
  queues.want(["a", "c"]);
  await until(async () => expect([...(await known.all()).keys()].sort()).toEqual(["a", "c"]));
});

it("a controller that is registered again does not get the first incarnation of its former queue", async () => {
  let isAway = false;
  const queues = open({}, () => {
    if (isAway) throw new Error("not there");
    return own();
  });
  queues.want(["a"]);
  await until(() => expect(queues.firstIncarnations.size).toBe(1));
  queues.want([]);
  await until(async () => expect((await known.all()).size).toBe(0));
  isAway = true;
  queues.want(["a"]);
  await until(() => expect([...queues.unresponsive().keys()]).toEqual(["a"]));
  expect([...queues.firstIncarnations]).toEqual([]);
});

it("a queue is opened again when its Redis is replaced, unless it was removed", async () => {
  let gone = new AbortController();
  const queues = open({}, () => ({ redis, gone: gone.signal }));
  queues.want(["a", "b"]);
  await until(() => expect(queues.firstIncarnations.size).toBe(2));
  const first = queues.of("a");
  queues.want(["a"]);
  const before = gone;
  gone = new AbortController();
  before.abort();
  await until(() => expect(queues.all()).toHaveLength(1));
  expect(queues.of("a")).not.toBe(first);
  expect(() => queues.of("b")).toThrow(/not registered/);
});

it("a first incarnation that is stored after several retries counts as one change", async () => {
  let [gone, refusals] = [new AbortController(), 0];
  const queues = open(
    { remember: (queue, origin) => (refusals-- > 0 ? refused() : known.remember(queue, origin)) },
    () => ({ redis, gone: gone.signal }),
  );
  queues.want(["a"]);
  await until(() => expect(queues.firstIncarnations.size).toBe(1));
  const before = queues.firstIncarnations.get("a");
  const given = gone;
  [gone, refusals] = [new AbortController(), 12];
  await redis.flushall();
  given.abort();
  await vi.waitFor(() => expect(queues.firstIncarnations.get("a")).not.toBe(before), {
    timeout: 10_000,
    interval: 5,
  });
  expect(refusals).toBeLessThan(0);
});
