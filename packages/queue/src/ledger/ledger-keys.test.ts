import { expect, it } from "vitest";
import { keysIn, ledgerUnderTest } from "./contract/ledger-under-test.ts";
import { scanLedgerKeys } from "./ledger-keys.ts";
import { listedPages } from "../work-queue/listed-pages.ts";
import { redisUnderTest } from "./redis-ledger.fixture.ts";
import type { WorkQueue } from "../work-queue/work-queue.ts";

const at = await redisUnderTest();
const t = ledgerUnderTest(at.open);

it("all keys of a ledger are found, among those of others, and listed page by page", async () => {
  const keys = [...keysIn("a", 450), ...keysIn("*", 50, "[x]")];
  for (const each of keys) await t.wake(each);
  const others = keysIn("a", 3_000).map((key) => `{drover:other}:key:${key}`);
  await at.redis.mset(Object.fromEntries(others.map((name) => [name, ""])));
  const found = new Set<string>();
  for await (const piece of scanLedgerKeys(at.redis, at.prefix)) for (const key of piece) found.add(key);
  expect([...found].sort()).toEqual(keys.toSorted());

  const listed: string[] = [];
  const queue: Pick<WorkQueue, "list"> = {
    list: (state, { limit, after }) => t.ledger.list(state, limit, after),
  };
  for (const state of ["ready", "dispatched"] as const)
    for await (const page of listedPages(queue, state)) {
      expect(page.length).toBeLessThanOrEqual(200);
      listed.push(...page.map((report) => report.key));
    }
  expect(listed.sort()).toEqual(keys.toSorted());
});
