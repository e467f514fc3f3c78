import { type Log, silentLog } from "@drover/controller";
import { fleetOf, type KnownOrigins, openKnownOrigins } from "@drover/streams";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { redisOfFile } from "../../../packages/queue/src/redis.fixture.ts";
import { openQueues, type Queues } from "./open-queues.ts";

let known: KnownOrigins;
let opened: Queues | undefined;
let warnings: unknown[];
const log: Log = { ...silentLog, warn: (fields, message) => warnings.push([message, fields]) };

const { redis } = await redisOfFile();
beforeEach(async () => {
  warnings = [];
  await redis.flushall();
  known = openKnownOrigins(redis, fleetOf());
});
afterEach(() => opened?.close());

const own = () => ({ redis, gone: new AbortController().signal });
const open = (of: Partial<KnownOrigins>, redisFor = own): Queues =>
  (opened = openQueues({ known: { ...known, ...of }, redisFor, log, again: 5, onChange: () => undefined }));
const until = (look: () => Promise<void> | void) => vi.waitFor(look, { timeout: 20_000, interval: 5 });
const refused = () => Promise.reject(new Error("NOPERM"));

it("origins that Redis did not give at first are read again, and what is gone is forgotten then", async () => {
  await known.remember("gone", "o");
  let refuses = true;
  const queues = open({ all: () => (refuses ? refused() : known.all()) });
  queues.want(["a"]);
  await until(() => expect(queues.silent().get("a")).toBe("NOPERM"));
  expect([...queues.origins]).toEqual([]);
  await until(() =>
    expect(warnings).toContainEqual([
      "Could not delete the stored incarnations of removed controllers",
      { err: new Error("NOPERM") },
    ]),
  );
  refuses = false;
  await until(() => expect([...queues.origins.keys()]).toEqual(["a"]));
  expect([[...queues.silent()], queues.problems()]).toEqual([[], []]);
  queues.want(["a"]);
  await until(async () => expect([...(await known.all())]).toEqual([...queues.origins]));
});

it("a silent queue counts as the one that it was, also where that was not readable at first", async () => {
  await known.remember("a", "as it was");
  let refuses = true;
  const queues = open({ all: () => (refuses ? refused() : known.all()) }, () => {
    throw new Error("not there");
  });
  queues.want(["a"]);
  await until(() => expect(warnings).toHaveLength(2));
  expect([...queues.origins]).toEqual([]);
  refuses = false;
  await until(() => expect([...queues.origins]).toEqual([["a", "as it was"]]));
});

it("an origin that could not be forgotten is forgotten the next time, and others are opened meanwhile", async () => {
  let refuses = true;
  const queues = open({ forget: (names) => (refuses ? refused() : known.forget(names)) });
  queues.want(["a", "b"]);
  await until(() => expect(queues.origins.size).toBe(2));
  queues.want(["a", "c"]);
  await until(() => expect([...queues.origins.keys()].sort()).toEqual(["a", "c"]));
  await until(() => expect(warnings.length).toBeGreaterThan(0));
  expect(await known.all()).toHaveProperty("size", 3);
  refuses = false;
  queues.want(["a", "c"]);
  await until(async () => expect([...(await known.all()).keys()].sort()).toEqual(["a", "c"]));
});

it("a controller that comes back after it was gone is not known by what its queue was before", async () => {
  let isAway = false;
  const queues = open({}, () => {
    if (isAway) throw new Error("not there");
    return own();
  });
  queues.want(["a"]);
  await until(() => expect(queues.origins.size).toBe(1));
  queues.want([]);
  await until(async () => expect((await known.all()).size).toBe(0));
  isAway = true;
  queues.want(["a"]);
  await until(() => expect([...queues.silent().keys()]).toEqual(["a"]));
  expect([...queues.origins]).toEqual([]);
});

it("a queue whose Redis is given up is opened on the next one, and none that is gone by then", async () => {
  let gone = new AbortController();
  const queues = open({}, () => ({ redis, gone: gone.signal }));
  queues.want(["a", "b"]);
  await until(() => expect(queues.origins.size).toBe(2));
  const first = queues.of("a");
  queues.want(["a"]);
  const before = gone;
  gone = new AbortController();
  before.abort();
  await until(() => expect(queues.all()).toHaveLength(1));
  expect(queues.of("a")).not.toBe(first);
  expect(() => queues.of("b")).toThrow(/not registered/);
});

it("an origin that could not be remembered at once counts as one change, however often it is tried", async () => {
  let [gone, refusals] = [new AbortController(), 0];
  const queues = open(
    { remember: (queue, origin) => (refusals-- > 0 ? refused() : known.remember(queue, origin)) },
    () => ({ redis, gone: gone.signal }),
  );
  queues.want(["a"]);
  await until(() => expect(queues.origins.size).toBe(1));
  const before = queues.origins.get("a");
  const given = gone;
  [gone, refusals] = [new AbortController(), 12];
  await redis.flushall();
  given.abort();
  await vi.waitFor(() => expect(queues.origins.get("a")).not.toBe(before), { timeout: 10_000, interval: 5 });
  expect(refusals).toBeLessThan(0);
});
