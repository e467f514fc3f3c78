import { digestOf, firstDifference } from "./difference.ts";
import { isRemoved, isUnconfirmed, type SettingPlan, type WrittenItems } from "./plan-settings.ts";
import { itemPath, type Setting, type SettingChange, SettingRefusal } from "./setting.ts";

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
  const reports: SettingReport[] = [];
  for (const plan of plans) {
    reports.push({ setting: plan.setting.name, refusal: await applyPlan(plan, beforeWrite) });
  }
  return reports;
}

async function applyPlan(plan: SettingPlan, beforeWrite: () => void): Promise<SettingRefusal | undefined> {
  if (plan.refusal !== undefined) return plan.refusal;
  const { setting, change } = plan;
  if (change === undefined) return undefined;
  beforeWrite();
  return (await setting.write(change)) ?? (await notKept(setting, change));
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
export const isNotKept = (refusal: SettingRefusal | undefined): boolean => refusal?.reason === "NotKept";

/**
 * The items that the object has written, after a run.
 *
 * An item that was about to be written and is as wanted counts as written: a run may have written it and died before it
 * wrote the status. An item that was to be removed and is still there stays written.
 */
export function writtenAfter(
  plans: readonly SettingPlan[],
  reports: readonly SettingReport[],
  before: WrittenItems,
  isAnnounced: (path: string) => boolean,
): WrittenItems {
  const refusals = new Map(reports.map(({ setting, refusal }) => [setting, refusal]));
  const written = plans.flatMap((plan) => {
    const { name, wanted } = plan.setting;
    const refusal = refusals.get(name);
    const isWritten = refusal === undefined || isNotKept(refusal);
    const removed = plan.refusal === undefined && refusal !== undefined ? (plan.change?.removed ?? []) : [];
    // A refused item that was only announced is not there.
    const isLost = (digest: string | undefined): boolean =>
      plan.refusal === undefined && !isWritten && isUnconfirmed(digest);
    const kept = [...wanted.keys(), ...removed]
      .map((id) => [itemPath(name, id), before[itemPath(name, id)]] as const)
      .filter(([, digest]) => !isLost(digest));
    const now = [...wanted]
      .filter(([id]) => isWritten || refusal.written.includes(id))
      .map(([id, value]) => [itemPath(name, id), digestOf(value)] as const);
    const isOurs = ([path]: readonly [string, unknown]): boolean =>
      before[path] !== undefined || isAnnounced(path);
    return [...kept, ...now.filter(isOurs)];
  });
  return Object.fromEntries(
    written.flatMap(([path, digest]) => (digest === undefined ? [] : [[path, digest] as const])),
  );
}
