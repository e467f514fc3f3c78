import {
  type Condition,
  readyCondition,
  redact,
  stalledCondition,
  type StatusCondition,
  timestamp,
  reconcilingCondition,
  type Announcement,
} from "@drover/controller";
import { parseJson, writeJson } from "@drover/json";
import type { KubeObject } from "@drover/kube";
import { isDeepStrictEqual } from "node:util";
import { conditionsOf } from "../schema/parse-object.ts";
import { sessionCondition } from "./session-condition.ts";

/** The status that a run reports for its object. */
export interface StatusReport {
  /** The author's fields; undefined keeps the current ones. */
  readonly fields: object | undefined;
  /** The conditions that the run reports, including Ready. */
  readonly conditions: readonly Condition[];
  /**
   * If true, other conditions of the object are kept, since a failed run knows nothing about them; else they are
   * removed. The acknowledgement of a session of `drover dev` always stays.
   */
  readonly keepOthers: boolean;
  /** If true, the key does not run again before the object changes. */
  readonly parked?: boolean;
}

/** Maximum length of a message in a Kubernetes condition. */
const maxMessageLength = 32_768;

/**
 * The status to write, or undefined if the object already has it. An unchanged status is not written, so that an idle
 * cluster stays idle.
 *
 * A condition's `lastTransitionTime` stays the same as long as its status does. Messages are scrubbed of secrets and
 * cut to the length that Kubernetes accepts, and reasons become words that it accepts: an error must not prevent its
 * own report.
 */
export function statusToWrite(raw: KubeObject, report: StatusReport, now: Date): object | undefined {
  const { conditions, parked = false } = report;
  return changedStatus(
    raw,
    { ...report, conditions: [...conditions, ...kstatusConditions(conditions, { parked })] },
    now,
  );
}

function changedStatus(
  raw: KubeObject,
  { fields, conditions, keepOthers }: StatusReport,
  now: Date,
): object | undefined {
  const before = statusIn(raw);
  const current = conditionsOf(raw);
  const observedGeneration = raw.metadata.generation ?? 0;
  const reported = conditions.map((condition) =>
    toStatusCondition(condition, current, observedGeneration, now),
  );
  const named = new Set(reported.map(({ type }) => type));
  const others = current.filter(
    (condition) =>
      !named.has(condition.type) &&
      // A run of a session of `drover dev` may not remove the acknowledgement that it runs by.
      (condition.type === sessionCondition || (keepOthers && !isKstatusCondition(condition))),
  );
  const after = {
    ...(fields ?? before),
    observedGeneration,
    conditions: [...others, ...reported].sort((a, b) => order(a) - order(b)),
  };
  return isDeepStrictEqual(asJson(before), asJson(after)) ? undefined : after;
}

/** The condition of an object with runs that request the next one at once and change nothing. */
export const noProgressCondition: Condition = {
  type: stalledCondition,
  status: "True",
  reason: "NoProgress",
  message:
    "Runs request another run within a second, and change nothing: they are retried with backoff. If the function works on " +
    "something outside the cluster, show the progress in its status or its message. Otherwise wait longer, or for a change.",
};

/** True if writing a statement would change nothing except the conditions `Reconciling` and `Stalled`. */
export function isStatusUnchanged(raw: KubeObject, report: StatusReport, now: Date): boolean {
  const others = <T extends Condition>(all: readonly T[]): readonly T[] =>
    all.filter((one) => !isKstatusCondition(one));
  const status = { ...statusIn(raw), conditions: others(conditionsOf(raw)) };
  return (
    changedStatus({ ...raw, status }, { ...report, conditions: others(report.conditions) }, now) === undefined
  );
}

/** True if the status or reason of Ready differs from the current one. A first Ready that is True does not count. */
export function hasReadyChanged(raw: KubeObject, { status, reason }: Condition): boolean {
  const before = conditionsOf(raw).find(({ type }) => type === readyCondition);
  return before === undefined ? status !== "True" : before.status !== status || before.reason !== reason;
}

function toStatusCondition(
  { type, status, reason, message }: Condition,
  current: readonly StatusCondition[],
  observedGeneration: number,
  now: Date,
): StatusCondition {
  const clean = redact(message).toWellFormed();
  const before = current.find((condition) => condition.type === type && condition.status === status);
  return {
    type,
    status,
    reason: asReason(reason),
    message:
      clean.length > maxMessageLength ? `${clean.slice(0, maxMessageLength - 1).toWellFormed()}…` : clean,
    observedGeneration,
    lastTransitionTime: before?.lastTransitionTime ?? timestamp(now),
  };
}

/** Makes a reason that meta/v1 accepts: `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`. */
const asReason = (text: string): string => {
  const word = text
    .replace(/[^A-Za-z0-9_]/g, "")
    .replace(/^[^A-Za-z]+/, "")
    .slice(0, 1_024);
  return word === "" ? "Unknown" : word;
};

const statusIn = ({ status }: KubeObject): object =>
  typeof status === "object" && status !== null ? status : {};
const order = ({ type }: Condition): number => (type === readyCondition ? 0 : 1);
const asJson = (value: unknown): unknown => parseJson(writeJson(value));

const kstatusTypes: readonly string[] = [reconcilingCondition, stalledCondition];

/** True for the conditions that kstatus evaluates. */
const isKstatusCondition = ({ type }: Pick<Condition, "type">): boolean => kstatusTypes.includes(type);

/**
 * The conditions from which kstatus derives the state of an object of any kind, for Helm's `--wait` and Flux
 * (https://pkg.go.dev/sigs.k8s.io/cli-utils/pkg/kstatus). Each is present only while it is True.
 *
 * - `Reconciling`: the object is not Ready yet; work is in progress, waits, or is retried.
 * - `Stalled`: the key is parked; a user or a change is needed.
 *
 * If a function reports one of them itself, none is added.
 */
export function kstatusConditions(
  conditions: readonly Condition[],
  { parked }: { readonly parked: boolean },
): readonly Condition[] {
  const main = conditions.find(({ type }) => type === readyCondition);
  if (main === undefined || main.status === "True" || conditions.some(isKstatusCondition)) return [];
  return [{ ...main, type: parked ? stalledCondition : reconcilingCondition, status: "True" }];
}

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
