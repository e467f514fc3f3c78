import { objectKey } from "@drover/controller";
import { expect, it } from "vitest";
import { LeaseLostError } from "./lease-keeper.ts";
import { key, ledgerUnderTest, lease } from "./ledger-contract/ledger-under-test.ts";
import { openNamedKeys } from "./named-keys.ts";
import { redisUnderTest } from "./redis-ledger.fixture.ts";

const at = redisUnderTest();
const t = ledgerUnderTest(at.open);
const [one, two] = [objectKey({ namespace: "a", name: "one" }), objectKey({ name: "two" })];
/** Of the queue whose ledger is open. */
const names = () => openNamedKeys(at.redis, /^\{drover:(.*)\}$/.exec(at.prefix)?.[1] ?? "");

it("the keys that a key named last are remembered, each key's by itself, until it names none", async () => {
  const other = objectKey({ name: "other" });
  await t.enlist({ slots: 2 });
  for (const each of [key, other]) {
    await t.wake(each);
    await t.claim(each, `run of ${each}`);
  }
  expect(await names().of(key)).toEqual([]);
  await names().remember({ key, token: `run of ${key}` }, [one, two]);
  await names().remember({ key: other, token: `run of ${other}` }, [two]);
  expect([await names().of(key), await names().of(other)]).toEqual([[one, two], [two]]);
  await names().remember({ key, token: `run of ${key}` }, []);
  expect([await names().of(key), await names().of(other)]).toEqual([[], [two]]);
});

it("what a run named that holds its key no more is not remembered", async () => {
  await t.wake(key);
  await t.claim(key, "before");
  t.clock += lease;
  await t.rung();
  await t.claim(key, "after");
  await names().remember({ key, token: "after" }, [one]);
  for (const token of ["before", "nobody's", ""]) {
    await expect(names().remember({ key, token }, [two])).rejects.toThrow(LeaseLostError);
  }
  expect(await names().of(key)).toEqual([one]);
});
