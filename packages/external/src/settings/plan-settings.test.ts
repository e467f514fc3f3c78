import { describe, expect, test } from "vitest";
import { settingDifferences } from "../differences.ts";
import { applySettings, writtenAfter } from "./apply-settings.ts";
import { planSettings, type WrittenItems } from "./plan-settings.ts";
import { type Setting, type SettingChange, SettingRefusal, type SettingValue } from "./setting.ts";

type Items = Readonly<Record<string, SettingValue>>;

/** A setting that is kept in memory, as a server would keep it. */
function rules(wanted: Items, stored: Items = {}) {
  const server = { items: new Map(Object.entries(stored)), reads: 0, writes: [] as SettingChange[] };
  const setting: Setting = {
    name: "rules",
    wanted: new Map(Object.entries(wanted)),
    read() {
      server.reads++;
      return Promise.resolve(new Map(server.items));
    },
    write(change) {
      server.writes.push(change);
      server.items = new Map(change.all);
      return Promise.resolve(undefined);
    },
  };
  return { server, setting, stored: () => Object.fromEntries(server.items) };
}

/** A run that has announced every difference. */
async function applied(setting: Setting, written: WrittenItems = {}, announced = true) {
  const plans = await planSettings([setting], written);
  const reports = await applySettings(plans, () => undefined);
  return { plans, reports, written: writtenAfter(plans, reports, written, () => announced) };
}

describe("a setting", () => {
  test("that is not named and was never written is not even read", async () => {
    const { server, setting } = rules({}, { theirs: 1 });
    await applied(setting);
    expect(server).toMatchObject({ reads: 0, writes: [] });
  });

  test("is written with the items of others, and then only read, once a look", async () => {
    const { server, setting, stored } = rules({ a: { days: 1 } }, { theirs: { days: 9 } });
    const first = await applied(setting);
    expect(stored()).toEqual({ theirs: { days: 9 }, a: { days: 1 } });
    expect(server.writes[0]).toMatchObject({ removed: [] });
    server.reads = 0;
    const second = await applied(setting, first.written, false);
    expect(second.written).toEqual(first.written);
    expect(server).toMatchObject({ reads: 1, writes: { length: 1 } });
  });

  test("may have more fields than the spec names", async () => {
    const { server, setting } = rules({ a: { days: 1 } }, { a: { days: 1, extra: { by: "default" } } });
    await applied(setting);
    expect(server.writes).toEqual([]);
  });

  test("is written again when the spec takes a field back that it has written", async () => {
    const before = await applied(rules({ a: { days: 1, more: 2 } }).setting);
    const { setting, stored } = rules({ a: { days: 1 } }, { a: { days: 1, more: 2 } });
    const { plans, written } = await applied(setting, before.written);
    expect([...settingDifferences(plans).values()]).toEqual([
      "rules/a has fields that the spec no longer names",
    ]);
    expect(stored()).toEqual({ a: { days: 1 } });
    expect(written).not.toEqual(before.written);
  });
});

describe("an item that the spec no longer names", () => {
  test("is removed if it was written, with no other", async () => {
    const { server, setting, stored } = rules({}, { a: 1, theirs: 2 });
    expect((await applied(setting, { "rules/a": "x" })).written).toEqual({});
    expect(stored()).toEqual({ theirs: 2 });
    expect(server.writes[0]?.removed).toEqual(["a"]);
  });

  test("stays if it was not written: it was as the spec asked when it was adopted", async () => {
    const equal = await applied(rules({ a: 1 }, { a: 1 }).setting, {}, false);
    expect(equal.written).toEqual({});
    const { server, setting } = rules({}, { a: 1 });
    await applied(setting, equal.written);
    expect(server.writes).toEqual([]);
  });

  test("is removed though the run that wrote it died before it could record that", async () => {
    const afterCrash = await applied(rules({ a: 1 }, { a: 1 }).setting, {}, true);
    const { setting, stored } = rules({}, { a: 1 });
    await applied(setting, afterCrash.written);
    expect(stored()).toEqual({});
  });

  test("is removed if it was only announced: a run may have written it and died", async () => {
    const { setting, stored } = rules({}, { a: 1, theirs: 2 });
    expect((await applied(setting, { "rules/a": "?x" })).written).toEqual({});
    expect(stored()).toEqual({ theirs: 2 });
  });

  test("is written again if another value was announced, which a run may have written", async () => {
    const announcing = await planSettings([rules({ a: { days: 1, more: 2 } }).setting], {});
    const { setting, stored } = rules({ a: { days: 1 } }, { a: { days: 1, more: 2 } });
    await applied(setting, announcing[0]?.added);
    expect(stored()).toEqual({ a: { days: 1 } });
    const same = rules({ a: { days: 1, more: 2 } }, { a: { days: 1, more: 2 } });
    await applied(same.setting, announcing[0]?.added);
    expect(same.server.writes).toEqual([]);
  });

  test("is forgotten if it is gone, or is the server's default", async () => {
    const gone = rules({}, {});
    expect((await applied(gone.setting, { "rules/a": "x" })).written).toEqual({});
    const off = rules({}, { a: false });
    await applied({ ...off.setting, removedAs: false }, { "rules/a": "x" });
    expect([gone.server.writes, off.server.writes]).toEqual([[], []]);
  });

  test("stays recorded while the server does not remove it", async () => {
    const { setting } = rules({}, { a: 1 });
    const stubborn = { ...setting, write: () => Promise.resolve(undefined) };
    const { reports, written } = await applied(stubborn, { "rules/a": "x" });
    expect(reports[0]?.refusal?.reason).toBe("NotKept");
    expect(written).toEqual({ "rules/a": "x" });
  });
});

test("a plan has the items that do not exist yet, as the server's default is no item", async () => {
  const plans = await planSettings(
    [{ ...rules({ a: true, b: true, c: true }, { b: 1, c: false }).setting, removedAs: false }],
    {},
  );
  expect(Object.keys(plans[0]?.added ?? {})).toEqual(["rules/a", "rules/c"]);
});

test("a refusal of one setting keeps no other from being written, and records nothing", async () => {
  const refused = {
    ...rules({ a: 1 }).setting,
    read: () => Promise.resolve(new SettingRefusal("NotSupported", "m")),
  };
  const other = rules({ b: 1 });
  const plans = await planSettings([refused, { ...other.setting, name: "other" }], {});
  const reports = await applySettings(plans, () => undefined);
  expect(reports.map(({ refusal }) => refusal?.reason)).toEqual(["NotSupported", undefined]);
  expect(other.stored()).toEqual({ b: 1 });
  expect(Object.keys(writtenAfter(plans, reports, {}, () => true))).toEqual(["other/b"]);
});

test("nothing is written after the lease is over", async () => {
  const { server, setting } = rules({ a: 1 });
  const plans = await planSettings([setting], {});
  const lost = (): never => {
    throw new Error("the lease is over");
  };
  await expect(applySettings(plans, lost)).rejects.toThrow("the lease is over");
  expect(server.writes).toEqual([]);
});

test("a setting whose name begins with that of another has items of its own", async () => {
  const { server, setting } = rules({}, { a: 1 });
  await applied(setting, { "rulesOfOthers/a": "x", rulesOfOthers: "y" });
  expect(server.reads).toBe(0);
});
