import { digestOf, firstDifference } from "./difference.ts";
import {
  isRemoved,
  isUnconfirmed,
  recordedPaths,
  type SettingPlan,
  type WrittenItems,
} from "./plan-settings.ts";
import {
  idsIn,
  itemPath,
  type Setting,
  type SettingChange,
  SettingRefusal,
  type SettingValue,
} from "./setting.ts";

/** The result of one setting in a run. */
export interface SettingReport {
  readonly setting: string;
  /** Undefined if it is as the spec asks. */
  readonly refusal: SettingRefusal | undefined;
}

/**
 * Writes the settings that differ, one after the other, and reads each again.
 *
 * @param beforeWrite is called before each write; if it throws, nothing more is written.
 */
export async function applySettings(
  plans: readonly SettingPlan[],
  beforeWrite: () => void,
): Promise<readonly SettingReport[]> {
  const refusals = new Map<string, SettingRefusal | undefined>();
  for (const plan of plans) {
    const { setting } = plan;
    const change = setting.areParts ? withoutRemoval(plan.change) : plan.change;
    refusals.set(setting.name, plan.refusal ?? (await apply(setting, change, beforeWrite)));
  }
  for (const { setting, change } of plans.toReversed()) {
    if (!setting.areParts || refusals.get(setting.name) !== undefined) continue;
    const refusal = await apply(setting, onlyRemoval(change), beforeWrite);
    const written = [...(change?.set.keys() ?? [])];
    refusals.set(setting.name, refusal && new SettingRefusal(refusal.reason, refusal.message, written));
  }
  return [...refusals].map(([setting, refusal]) => ({ setting, refusal }));
}

const withoutRemoval = (change: SettingChange | undefined): SettingChange | undefined =>
  change && { ...change, removed: [] };
const onlyRemoval = (change: SettingChange | undefined): SettingChange | undefined =>
  change && { ...change, set: new Map() };

async function apply(
  setting: Setting,
  change: SettingChange | undefined,
  beforeWrite: () => void,
): Promise<SettingRefusal | undefined> {
  if (change === undefined || change.set.size + change.removed.length === 0) return undefined;
  beforeWrite();
  return (await setting.write(change)) ?? (await notKept(setting, change));
}

/**
 * Removes the parts of a resource that is gone.
 *
 * @returns the first refusal.
 */
export async function removeParts(
  settings: readonly Setting[],
  written: WrittenItems,
  beforeWrite: () => void,
): Promise<SettingRefusal | undefined> {
  for (const setting of settings.filter(({ areParts }) => areParts).toReversed()) {
    const ours = idsIn(setting.name, Object.keys(written));
    if (ours.length === 0) continue;
    const current = await setting.read();
    if (current instanceof SettingRefusal) return current;
    const removed = ours.filter((id) => !isRemoved(setting, current.get(id)));
    const refusal = await apply(setting, { all: new Map(), set: new Map(), removed }, beforeWrite);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Reads a setting again: some servers accept a value and ignore it, or a part of it. */
async function notKept(
  setting: Setting,
  { set, removed }: SettingChange,
): Promise<SettingRefusal | undefined> {
  const current = await setting.read();
  if (current instanceof SettingRefusal) return current;
  const isKept =
    [...set].every(([id, value]) => firstDifference(current.get(id), value) === undefined) &&
    removed.every((id) => isRemoved(setting, current.get(id)));
  return isKept
    ? undefined
    : new SettingRefusal(
        "NotKept",
        `The server accepted ${setting.name}, and does not return it as it was written.`,
      );
}

/** True for a setting that the server has accepted and does not return. */
const isNotKept = (refusal: SettingRefusal | undefined): boolean => refusal?.reason === "NotKept";

/** The paths of the items that the server has refused, or accepted and not kept. */
export const refusedItems = (
  plans: readonly SettingPlan[],
  reports: readonly SettingReport[],
): readonly string[] =>
  plans.flatMap(({ setting, change }) => {
    const { refusal } = reports.find((report) => report.setting === setting.name) ?? {};
    if (refusal === undefined || change === undefined || setting.followsObjects) return [];
    const ids = [...change.set.keys(), ...change.removed].filter((id) => !refusal.written.includes(id));
    return ids.map((id) => itemPath(setting.name, id));
  });

/**
 * True if a setting was written with a new value and is not returned yet. A server may need some seconds for that. One
 * that did not return the value after an earlier run, either, does not keep it.
 */
export const isSettling = (
  plans: readonly SettingPlan[],
  reports: readonly SettingReport[],
  before: WrittenItems,
): boolean =>
  plans.some(({ setting, change }) => {
    const report = reports.find((each) => each.setting === setting.name);
    if (change === undefined || !isNotKept(report?.refusal)) return false;
    const isNew = ([id, value]: readonly [string, SettingValue]): boolean =>
      before[itemPath(setting.name, id)] !== digestOf(value);
    return change.removed.length > 0 || [...change.set].some(isNew);
  });

/**
 * The items that the object has written, after a run.
 *
 * An item that was about to be written and is as wanted counts as written: a run may have written it and died before it
 * wrote the status. An item that was to be removed and may still be there stays written.
 */
export function writtenAfter(
  plans: readonly SettingPlan[],
  reports: readonly SettingReport[],
  before: WrittenItems,
  isAnnounced: (path: string) => boolean,
): WrittenItems {
  const refusals = new Map(reports.map(({ setting, refusal }) => [setting, refusal]));
  const recorded = plans.filter(({ setting }) => !setting.followsObjects);
  const written = recorded.flatMap((plan) => {
    const { name, wanted } = plan.setting;
    const refusal = refusals.get(name);
    const isWritten = refusal === undefined || isNotKept(refusal);
    const removed = refusal === undefined ? [] : notRemoved(plan, before);
    // A refused item that was only announced is not there. Of parts, some may be: they stay recorded.
    const isLost = (digest: string | undefined): boolean =>
      plan.refusal === undefined && !isWritten && !plan.setting.areParts && isUnconfirmed(digest);
    const kept = [...wanted.keys(), ...removed]
      .map((id) => [itemPath(name, id), before[itemPath(name, id)]] as const)
      .filter(([, digest]) => !isLost(digest));
    const now = [...wanted]
      .filter(([id]) => isWritten || refusal.written.includes(id))
      .map(([id, value]) => [itemPath(name, id), digestOf(value)] as const);
    const set = new Set([...(plan.change?.set.keys() ?? [])].map((id) => itemPath(name, id)));
    const isOurs = ([path]: readonly [string, unknown]): boolean =>
      before[path] !== undefined || isAnnounced(path) || set.has(path);
    return [...kept, ...now.filter(isOurs)];
  });
  // A setting that the spec no longer names has no plan if it cannot be read.
  const planned = recordedPaths(
    plans.map(({ setting }) => setting),
    before,
  );
  const unread = Object.entries(before).filter(
    ([path, digest]) => !planned.has(path) && !isUnconfirmed(digest),
  );
  return Object.fromEntries(
    [...unread, ...written].flatMap(([path, digest]) =>
      digest === undefined ? [] : [[path, digest] as const],
    ),
  );
}

/** The ids of the items that a run with a refusal was to remove. If the setting cannot be read, any may be there. */
function notRemoved({ setting, refusal, change }: SettingPlan, before: WrittenItems): readonly string[] {
  if (refusal === undefined) return change?.removed ?? [];
  const isThere = (id: string): boolean =>
    setting.areParts === true || !isUnconfirmed(before[itemPath(setting.name, id)]);
  return idsIn(setting.name, Object.keys(before)).filter(isThere);
}
