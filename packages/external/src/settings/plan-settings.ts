import { digestOf, firstDifference, shownValue } from "./difference.ts";
import {
  idsIn,
  itemPath,
  type Setting,
  type SettingChange,
  type SettingItems,
  SettingRefusal,
  type SettingValue,
} from "./setting.ts";

/**
 * For each path of an item that the object has written, the digest of its value. One that did not exist when it was
 * announced has a `?` before it until a run has written it.
 */
export type WrittenItems = Readonly<Record<string, string>>;

/** One setting as it was read, and how it differs from the spec. */
export type SettingPlan =
  | {
      readonly setting: Setting;
      readonly refusal: SettingRefusal;
      readonly change?: never;
      readonly drifted?: never;
      readonly added?: never;
    }
  | {
      readonly setting: Setting;
      readonly refusal?: never;
      /** Undefined if nothing is to be written. */
      readonly change: SettingChange | undefined;
      /** The paths of the items to write, each with the difference, as part of a sentence. */
      readonly differences: ReadonlyMap<string, string>;
      /** The paths of those that others have changed: they differ from what an earlier run has seen or written. */
      readonly drifted: readonly string[];
      /** Those of them that do not exist yet, as announced. */
      readonly added: WrittenItems;
    };

/** Reads the settings that the spec names, or that were written before, and compares them with the spec. */
export async function planSettings(
  settings: readonly Setting[],
  written: WrittenItems,
): Promise<readonly SettingPlan[]> {
  const plans: SettingPlan[] = [];
  for (const setting of settings) {
    const plan = await planSetting(setting, written);
    if (plan !== undefined) plans.push(plan);
  }
  return plans;
}

async function planSetting(setting: Setting, written: WrittenItems): Promise<SettingPlan | undefined> {
  const { name, wanted, areParts, followsObjects } = setting;
  const ours = followsObjects ? [] : idsIn(name, Object.keys(written));
  if (wanted.size === 0 && ours.length === 0) return undefined;
  const current = await setting.read();
  if (current instanceof SettingRefusal) {
    return wanted.size === 0 && !areParts ? undefined : { setting, refusal: current };
  }
  const set = new Map([...wanted].filter(([id]) => !isAsWanted(setting, id, current, written)));
  const removed = ours.filter((id) => !wanted.has(id) && !isRemoved(setting, current.get(id)));
  const differences = new Map([
    ...[...set.keys()].map((id) => [itemPath(name, id), describe(setting, id, current)] as const),
    ...removed.map((id) => [itemPath(name, id), `${itemPath(name, id)} is no longer in the spec`] as const),
  ]);
  const change = differences.size === 0 ? undefined : { all: merged(current, set, removed), set, removed };
  const drifted = [...set].flatMap(([id, value]) => {
    const digest = recordedDigest(setting, id, written);
    const isDrift = digest === undefined ? !isRemoved(setting, current.get(id)) : digest === digestOf(value);
    return isDrift ? [itemPath(name, id)] : [];
  });
  const added = announced(setting, new Map([...set].filter(([id]) => isRemoved(setting, current.get(id)))));
  return { setting, change, differences, drifted, added };
}

/** For a resource that does not exist yet: every item of the spec, as announced. */
export const itemsToAdd = (settings: readonly Setting[]): WrittenItems =>
  Object.assign({}, ...settings.map((setting) => announced(setting, setting.wanted))) as WrittenItems;

/** The paths of the items of these settings in a record. */
export const recordedPaths = (settings: readonly Setting[], written: WrittenItems): ReadonlySet<string> => {
  const paths = Object.keys(written);
  return new Set(settings.flatMap(({ name }) => idsIn(name, paths).map((id) => itemPath(name, id))));
};

/** The items of parts in a record. They stay recorded while there is no resource. */
export function partsIn(written: WrittenItems, settings: readonly Setting[]): WrittenItems {
  const recorded = recordedPaths(
    settings.filter(({ areParts }) => areParts),
    written,
  );
  return Object.fromEntries(Object.entries(written).filter(([path]) => recorded.has(path)));
}

const announced = ({ name, followsObjects }: Setting, items: SettingItems): WrittenItems =>
  followsObjects
    ? {}
    : Object.fromEntries([...items].map(([id, value]) => [itemPath(name, id), `?${digestOf(value)}`]));

/** True if an item is only announced. */
export const isUnconfirmed = (digest: string | undefined): boolean => digest?.startsWith("?") === true;

/** True if a value is what the server returns for an item that was removed. */
export const isRemoved = ({ removedAs }: Setting, value: SettingValue | undefined): boolean =>
  value === undefined || (removedAs !== undefined && firstDifference(value, removedAs) === undefined);

/**
 * An item that Drover wrote with another value is not as wanted, though it may contain everything that the spec names
 * now: the former value had something more.
 */
function isAsWanted(setting: Setting, id: string, current: SettingItems, written: WrittenItems): boolean {
  const value = setting.wanted.get(id);
  if (value === undefined) return true;
  const digest = recordedDigest(setting, id, written);
  return (
    firstDifference(current.get(id), value) === undefined && (digest ?? digestOf(value)) === digestOf(value)
  );
}

/** Undefined if the object has not written the item. */
const recordedDigest = ({ name }: Setting, id: string, written: WrittenItems): string | undefined =>
  written[itemPath(name, id)]?.replace(/^\?/, "");

const merged = (current: SettingItems, set: SettingItems, removed: readonly string[]): SettingItems =>
  new Map([...[...current].filter(([id]) => !removed.includes(id)), ...set]);

function describe({ name, wanted }: Setting, id: string, current: SettingItems): string {
  const value = wanted.get(id);
  const difference = value === undefined ? undefined : firstDifference(current.get(id), value);
  if (difference === undefined) return `${itemPath(name, id)} has fields that the spec no longer names`;
  const place = [itemPath(name, id), difference.path].filter((part) => part !== "").join(".");
  return `${place} is ${shownValue(difference.found)}, and the spec asks for ${shownValue(difference.wanted)}`;
}
