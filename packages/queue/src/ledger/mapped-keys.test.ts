import { objectKey } from "@drover/controller";
import { expect, it } from "vitest";
import { LeaseLostError } from "../worker/lease-keeper.ts";
import { key, ledgerUnderTest, lease } from "./contract/ledger-under-test.ts";
import { openMappedKeys } from "./mapped-keys.ts";
import { redisUnderTest } from "./redis-ledger.fixture.ts";

const at = await redisUnderTest();
const t = ledgerUnderTest(at.open);
const [one, two] = [objectKey({ namespace: "a", name: "one" }), objectKey({ name: "two" })];
/** Of the queue whose ledger is open. */
const names = () => openMappedKeys(at.redis, /^\{drover:(.*)\}$/.exec(at.prefix)?.[1] ?? "");

it("the keys that a key named last are remembered, each key's by itself, until it names none", async () => {
  const other = objectKey({ name: "other" });
  await t.registerWorker({ slots: 2 });
  for (const each of [key, other]) {
    await t.wakeAndClaim(each, `run of ${each}`);
  }
  expect(await names().get(key)).toEqual([]);
  await names().store({ key, token: `run of ${key}` }, [one, two]);
  await names().store({ key: other, token: `run of ${other}` }, [two]);
  expect([await names().get(key), await names().get(other)]).toEqual([[one, two], [two]]);
  await names().store({ key, token: `run of ${key}` }, []);
  expect([await names().get(key), await names().get(other)]).toEqual([[], [two]]);
});

it("what a run named that holds its key no more is not remembered", async () => {
  await t.wakeAndClaim(key, "before");
  t.clock += lease;
  await t.dispatched();
  await t.claim(key, "after");
  await names().store({ key, token: "after" }, [one]);
  for (const token of ["before", "nobody's", ""]) {
    await expect(names().store({ key, token }, [two])).rejects.toThrow(LeaseLostError);
  }
  expect(await names().get(key)).toEqual([one]);
});
