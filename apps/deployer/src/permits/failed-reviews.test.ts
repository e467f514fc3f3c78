import { ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, keyOf, refOf } from "@drover/kube";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { type FunctionRef, functionRefOf, ownedMetadata } from "../function-ref.ts";
import { redisUserName } from "../names.ts";
import type { PermitRecord } from "./permit-records.ts";
import { type PermitReviewOptions, reviewOnce, reviewPermits } from "./review-permits.ts";
import { cup } from "../testing/cups.ts";
import { permitRecord } from "../testing/permit-records.ts";

const { client } = await sandboxOfFile({
  controllers: false,
  kinds: [ReconcileFunction],
  namespaces: ["tea", "drover"],
});

beforeAll(async () => {
  for (const name of ["cups", "pots"]) functionRefs.push(await addFunction(name));
});

/** Two functions, each with a Pod, a permit and a Redis user. */
const functionRefs: FunctionRef[] = [];
async function addFunction(name: string): Promise<FunctionRef> {
  const fn = await client.create(refOf(ReconcileFunction), {
    metadata: { name, namespace: "tea" },
    spec: { for: cup },
  });
  return functionRefOf(fn);
}
const podsLeft = async (): Promise<readonly string[]> => {
  const { items } = await client.list(builtin.pod, { namespace: "tea" });
  return items.map(({ metadata }) => metadata.name);
};

let permits: Map<string, PermitRecord>;
let users: Set<string>;
let woken: string[];
let trouble: Partial<Record<"review" | "drop" | "revoke" | "list", Error>>;
let isAllowed: boolean;
let options: PermitReviewOptions;
let stop: AbortController;
const consecutiveFailures = new Map<string, number>();
beforeEach(async () => {
  [woken, trouble, isAllowed] = [[], {}, false];
  consecutiveFailures.clear();
  stop = new AbortController();
  permits = new Map(
    functionRefs.map(({ uid, name }) => [uid, permitRecord(uid, { function: `tea/${name}` })]),
  );
  users = new Set(functionRefs.map(redisUserName));
  for (const name of await podsLeft())
    await client.delete(builtin.pod, keyOf({ metadata: { name, namespace: "tea" } }));
  for (const home of functionRefs)
    await client.create(builtin.pod, {
      metadata: { name: home.name, ...ownedMetadata(home) },
      spec: { containers: [{ name: "a", image: "a" }] },
    });
  const unless = (what: keyof typeof trouble): Promise<void> => {
    const error = trouble[what];
    return error === undefined ? Promise.resolve() : Promise.reject(error);
  };
  options = {
    client: {
      ...client,
      review: async () => {
        await unless("review");
        return { allowed: isAllowed };
      },
    },
    records: {
      get: (uid) => Promise.resolve(permits.get(uid)),
      list: async () => {
        await unless("list");
        return [...permits.values()];
      },
      store: () => Promise.resolve(),
      drop: async (uid) => {
        if (uid === functionRefs[0]?.uid) await unless("drop");
        permits.delete(uid);
      },
    },
    functionUsers: {
      names: () => Promise.resolve([...users]),
      revoke: async (home) => {
        await unless("revoke");
        users.delete(redisUserName(home));
      },
    },
    namespace: "drover",
    every: 1,
    log: silentLog,
    signal: stop.signal,
    wake: (key) => Promise.resolve(void woken.push(key)),
  };
});
const rounds = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await reviewOnce(options, consecutiveFailures);
};

it("a permit is withdrawn with all that it granted in the second turn in a row that finds it wanting", async () => {
  await rounds(1);
  expect([permits.size, users.size, (await podsLeft()).length]).toEqual([2, 2, 2]);
  isAllowed = true;
  await rounds(1);
  isAllowed = false;
  await rounds(1);
  expect(permits.size).toBe(2);
  await rounds(1);
  expect([permits.size, users.size, await podsLeft()]).toEqual([0, 0, []]);
  expect(woken).toContain("tea/cups");
});

it("a review that gets no answer changes nothing", async () => {
  trouble.review = new Error("503");
  await rounds(5);
  expect([permits.size, users.size, (await podsLeft()).length, woken]).toEqual([2, 2, 2, []]);
});

it("what cannot be withdrawn is tried again, and keeps nothing of another function", async () => {
  trouble.drop = new Error("500");
  await rounds(3);
  expect([...permits.keys()]).toEqual([functionRefs[0]?.uid]);
  expect(await podsLeft()).toEqual(["cups"]);
  delete trouble.drop;
  await rounds(1);
  expect([permits.size, await podsLeft()]).toEqual([0, []]);
});

it("a Redis user that cannot be revoked is revoked by a later turn", async () => {
  trouble.revoke = new Error("Redis is away");
  await rounds(2);
  expect([users.size, await podsLeft()]).toEqual([2, []]);
  delete trouble.revoke;
  await rounds(1);
  expect(users).toEqual(new Set());
});

it("Pods of a function that never had a permit go, though it has no Redis user", async () => {
  permits.clear();
  users.clear();
  await rounds(2);
  expect(await podsLeft()).toEqual([]);
});

it("goes on after a turn that failed", async () => {
  trouble.list = new Error("no connection");
  const ended = reviewPermits({
    ...options,
    records: {
      ...options.records,
      list: async (signal) => {
        const failed = options.records.list(signal);
        delete trouble.list;
        return failed;
      },
    },
  });
  await expect.poll(() => permits.size).toBe(0);
  stop.abort();
  await ended;
});
