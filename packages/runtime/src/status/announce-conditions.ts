import { type Announcement, readyCondition, stalledCondition } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { hasReadyChanged, noProgressCondition, type StatusReport } from "./status-writer.ts";

/** Emits an Event about an object. */
export type Announce = (about: KubeObject, announcement: Announcement) => void;

/**
 * Emits an Event for each condition of a run that a person should see: a Warning if it is an error, a Normal one if
 * Ready has changed.
 */
export function announceConditions(
  announce: Announce,
  raw: KubeObject,
  { conditions, keepOthers: hasFailed }: StatusReport,
): void {
  const isWorse =
    hasFailed || conditions.some(({ type, status }) => type === stalledCondition && status === "True");
  const action = raw.metadata.deletionTimestamp === undefined ? "Reconcile" : "Finalize";
  for (const stated of conditions) {
    const { type, status, reason, message } = stated;
    // If a run did not fail, its Ready=False only shows its progress.
    const isWrong =
      stated === noProgressCondition || (type === readyCondition && status === "False" && isWorse);
    if (isWrong) announce(raw, { type: "Warning", reason, action, note: message });
    else if (type === readyCondition && hasReadyChanged(raw, stated))
      announce(raw, { type: "Normal", reason, action, note: message });
  }
}
