import { expect, test } from "vitest";
import { applySettings, removeParts, writtenAfter } from "./apply-settings.ts";
import { digestOf } from "./difference.ts";
import { itemsToAdd, planSettings, type WrittenItems } from "./plan-settings.ts";
import { type Setting, SettingRefusal, type SettingValue } from "./setting.ts";

type Items = Readonly<Record<string, SettingValue>>;

/** Settings kept in memory, with what was done to them, in order. */
function memory(refused?: string) {
  const done: string[] = [];
  const stored = new Map<string, Map<string, SettingValue>>();
  const setting = (name: string, wanted: Items, rest: Partial<Setting> = {}, before: Items = {}): Setting => {
    stored.set(name, new Map(Object.entries(before)));
    return {
      name,
      wanted: new Map(Object.entries(wanted)),
      read: () => Promise.resolve(new Map(stored.get(name))),
      write({ set, removed }) {
        for (const id of set.keys()) done.push(`${name} ${id}`);
        for (const id of removed) done.push(`${name} without ${id}`);
        if (name === refused) return Promise.resolve(new SettingRefusal("No", "m"));
        for (const [id, value] of set) stored.get(name)?.set(id, value);
        for (const id of removed) stored.get(name)?.delete(id);
        return Promise.resolve(undefined);
      },
      ...rest,
    };
  };
  return { done, setting };
}

const run = async (settings: readonly Setting[], written: WrittenItems) => {
  const plans = await planSettings(settings, written);
  const reports = await applySettings(plans, () => undefined);
  return { plans, reports, written: writtenAfter(plans, reports, written, () => true) };
};
const parts = { areParts: true } as const;
const recorded = { "groups/old": digestOf("1"), "more/old": digestOf("1"), "listeners/80": digestOf("old") };

test("parts are written in their place and removed after all other settings, the last ones first", async () => {
  const { done, setting } = memory();
  const { written } = await run(
    [
      setting("groups", { new: "1" }, parts, { old: "1" }),
      setting("more", {}, parts, { old: "1" }),
      setting("listeners", { "80": "new" }, {}, { "80": "old" }),
    ],
    recorded,
  );
  expect(done).toEqual(["groups new", "listeners 80", "more without old", "groups without old"]);
  expect(written).toEqual({ "groups/new": digestOf("1"), "listeners/80": digestOf("new") });
});

test("parts stay recorded until they are removed", async () => {
  const { setting } = memory("groups");
  const settings = [setting("groups", {}, parts, { old: "1" })];
  const { written, reports } = await run(settings, { "groups/old": digestOf("1") });
  expect(written).toEqual({ "groups/old": digestOf("1") });
  expect(reports[0]?.refusal?.reason).toBe("No");
});

test("parts that were written stay recorded if the removal of others is refused", async () => {
  const { setting } = memory();
  const groups = setting("groups", { new: "1" }, parts, { old: "1" });
  const write: Setting["write"] = (change) =>
    change.removed.length > 0 ? Promise.resolve(new SettingRefusal("InUse", "m")) : groups.write(change);
  const { written } = await run([{ ...groups, write }], { "groups/old": digestOf("1"), "groups/new": "?x" });
  expect(written).toEqual({ "groups/old": digestOf("1"), "groups/new": digestOf("1") });
});

test("parts stay announced if the server refuses some", async () => {
  const { setting } = memory("groups");
  const { written } = await run([setting("groups", { new: "1" }, parts)], { "groups/new": "?x" });
  expect(written).toEqual({ "groups/new": "?x" });
});

test("parts and items that the spec no longer names stay recorded while they cannot be read", async () => {
  const { setting } = memory();
  const refused = { read: () => Promise.resolve(new SettingRefusal("AccessDenied", "m")) };
  const settings = [
    setting("groups", { new: "1" }, { ...parts, ...refused }),
    setting("more", {}, { ...parts, ...refused }),
    setting("rules", { new: "1" }, refused),
    setting("versioning", {}, refused),
  ];
  const groups = { "groups/old": "a", "groups/new": "?b", "groups/maybe": "?c", "more/old": "?d" };
  const written = { ...groups, "rules/old": "e", "rules/new": "?f", versioning: "g" };
  expect((await run(settings, written)).written).toEqual(written);
  // One that was only announced is not there, as a rule.
  expect((await run(settings, { ...written, "rules/maybe": "?h", cors: "?i" })).written).toEqual(written);
});

test("of a resource that is gone, the recorded parts that still exist are removed, and nothing else", async () => {
  const { done, setting } = memory();
  const settings = [
    setting("groups", {}, parts, { old: "1", theirs: "1" }),
    setting("more", {}, parts),
    setting("listeners", {}, {}, { "80": "old" }),
  ];
  let writes = 0;
  expect(await removeParts(settings, { ...recorded, "groups/never": "?x" }, () => writes++)).toBeUndefined();
  expect(done).toEqual(["groups without old"]);
  expect(writes).toBe(1);
});

test("a part that cannot be removed is reported", async () => {
  const { setting } = memory("groups");
  const settings = [setting("groups", {}, parts, { old: "1" })];
  expect((await removeParts(settings, recorded, () => undefined))?.reason).toBe("No");
});

test("what follows other objects is corrected and never recorded, announced or removed", async () => {
  const { done, setting } = memory();
  const targets = setting("targets", { a: ["1", "2"] }, { followsObjects: true }, { a: ["1"], b: ["1"] });
  expect(itemsToAdd([targets])).toEqual({});
  const { plans, written } = await run([targets], { "targets/b": digestOf(["1"]) });
  expect(plans[0]?.added).toEqual({});
  expect(done).toEqual(["targets a"]);
  expect(written).toEqual({});
});

test.each([
  ["was written with this value, and is another", "0", { rule: digestOf("1") }, true],
  ["was written with this value, and is gone", undefined, { rule: digestOf("1") }, true],
  ["was written with another value", "0", { rule: digestOf("0") }, false],
  ["was there already, as the spec asks", "0", {}, true],
  ["was never there", undefined, {}, false],
])("a difference of an item that %s counts as drift: %s %o %s", async (_, found, before, isDrift) => {
  const { setting } = memory();
  const one = setting("rules", { rule: "1" }, {}, found === undefined ? {} : { rule: found });
  const written = Object.fromEntries(Object.entries(before).map(([id, digest]) => [`rules/${id}`, digest]));
  expect((await planSettings([one], written))[0]?.drifted).toEqual(isDrift ? ["rules/rule"] : []);
});
