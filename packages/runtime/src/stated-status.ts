import { type Condition, ready, scrubbed, stalled, type StatedCondition } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { isDeepStrictEqual } from "node:util";
import { conditionsOf } from "./live-object.ts";

/** What a run says about its object. */
export interface Statement {
  /** The author's fields; undefined keeps those that stand. */
  readonly fields: object | undefined;
  /** Ready among them; undefined `kept` conditions go away. */
  readonly conditions: readonly Condition[];
  /** Keep conditions that this statement does not name: a failure knows nothing about them. */
  readonly keepOthers: boolean;
}

/** The longest message that a Kubernetes condition takes. */
const longestMessage = 32_768;

/**
 * The status that an object should carry, or undefined when it already does: what is as it was is not written, so that
 * a cluster at rest stays at rest.
 *
 * A condition's `lastTransitionTime` is kept for as long as its status stays the same. Messages are cut at the length
 * that Kubernetes takes, scrubbed of secrets, and reasons made words it takes: an error must not make the report of it fail.
 */
export function statusToWrite(raw: KubeObject, statement: Statement, now: Date): object | undefined {
  const before = statusIn(raw);
  const standing = conditionsOf(raw);
  const observedGeneration = raw.metadata.generation ?? 0;
  const stated = statement.conditions.map((condition) => state(condition, standing, observedGeneration, now));
  const named = new Set(stated.map(({ type }) => type));
  const others = statement.keepOthers
    ? standing.filter((condition) => !named.has(condition.type) && !isNoProgress(condition))
    : [];
  const after = {
    ...(statement.fields ?? before),
    observedGeneration,
    conditions: [...others, ...stated].sort((a, b) => order(a) - order(b)),
  };
  return isDeepStrictEqual(plain(before), plain(after)) ? undefined : after;
}

const noProgressReason = "NoProgress";

/** The condition of an object whose runs ask for the next one at once, and change nothing. */
export const noProgress: Condition = {
  type: stalled,
  status: "True",
  reason: noProgressReason,
  message:
    "Runs ask to run again within a second, and change nothing: they are retried with backoff. If the function works on " +
    "something outside the cluster, have its status or its message show how far it is; else have it wait longer, or for a change.",
};

/** True if writing a statement would change nothing but `noProgress`. */
export function isUnchanged(raw: KubeObject, statement: Statement, now: Date): boolean {
  const conditions = conditionsOf(raw).filter((one) => !isNoProgress(one));
  const status = { ...statusIn(raw), conditions };
  return statusToWrite({ ...raw, status }, statement, now) === undefined;
}

const isNoProgress = ({ type, reason }: Condition): boolean =>
  type === stalled && reason === noProgressReason;

/** Whether people may have read another Ready than this. What is well at the first look is no news. */
export function isNewReady(raw: KubeObject, { status, reason }: Condition): boolean {
  const before = conditionsOf(raw).find(({ type }) => type === ready);
  return before === undefined ? status !== "True" : before.status !== status || before.reason !== reason;
}

function state(
  { type, status, reason, message }: Condition,
  standing: readonly StatedCondition[],
  observedGeneration: number,
  now: Date,
): StatedCondition {
  const clean = scrubbed(message).toWellFormed();
  const before = standing.find((condition) => condition.type === type && condition.status === status);
  return {
    type,
    status,
    reason: asReason(reason),
    message: clean.length > longestMessage ? `${clean.slice(0, longestMessage - 1).toWellFormed()}…` : clean,
    observedGeneration,
    lastTransitionTime: before?.lastTransitionTime ?? `${now.toISOString().slice(0, 19)}Z`,
  };
}

/** `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`, as meta/v1 has it. */
const asReason = (text: string): string => {
  const word = text
    .replace(/[^A-Za-z0-9_]/g, "")
    .replace(/^[^A-Za-z]+/, "")
    .slice(0, 1_024);
  return word === "" ? "Unknown" : word;
};

const statusIn = ({ status }: KubeObject): object =>
  typeof status === "object" && status !== null ? status : {};
const order = ({ type }: Condition): number => (type === ready ? 0 : 1);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
