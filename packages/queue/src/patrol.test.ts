import { silentLog } from "@drover/controller";
import { expect, it } from "vitest";
import { namesPerScript } from "./script-bounds.ts";
import { keysIn, ledgerUnderTest } from "./ledger-contract/ledger-under-test.ts";

import { patrol } from "./patrol.ts";
import { redisUnderTest } from "./redis-ledger.fixture.ts";

const at = redisUnderTest();
const t = ledgerUnderTest(at.open);

it("looks over every key, a few of them in one script, and entries after the sets that they are looked up in", async () => {
  for (const key of keysIn("a", 3 * namesPerScript)) await t.wake(key);
  const looked: (readonly string[])[] = [];
  const ledger = {
    repairSets: () => Promise.resolve([]),
    repair: (names: readonly string[]) => (looked.push(names), Promise.resolve([])),
  };
  await patrol({ ...{ redis: at.redis, prefix: at.prefix, ledger }, log: silentLog, mayScan: true })();
  const names = looked.flat();
  expect(names.toSorted()).toEqual((await at.redis.keys(`${at.prefix}:*`)).sort());
  expect(looked.every(({ length }) => length <= namesPerScript)).toBe(true);
  const isEntry = names.map((name) => name.startsWith(`${at.prefix}:key:`));
  expect(isEntry.lastIndexOf(false)).toBeLessThan(isEntry.indexOf(true));
});
