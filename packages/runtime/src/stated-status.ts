import {
  type Condition,
  ready,
  scrubbed,
  stalled,
  type StatedCondition,
  timestamp,
} from "@drover/controller";
import { parseJson, writeJson } from "@drover/json";
import type { KubeObject } from "@drover/kube";
import { isDeepStrictEqual } from "node:util";
import { conditionsOf } from "./live-object.ts";
import { isAboutWork, workConditions } from "./work-conditions.ts";

/** What a run says about its object. */
export interface Statement {
  /** The author's fields; undefined keeps those that stand. */
  readonly fields: object | undefined;
  /** Ready among them; undefined `kept` conditions go away. */
  readonly conditions: readonly Condition[];
  /** Keep conditions that this statement does not name: a failure knows nothing about them. */
  readonly keepOthers: boolean;
  /** No run follows before the object changes. */
  readonly parked?: boolean;
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
  const { conditions, parked = false } = statement;
  return differing(
    raw,
    { ...statement, conditions: [...conditions, ...workConditions(conditions, { parked })] },
    now,
  );
}

function differing(
  raw: KubeObject,
  { fields, conditions, keepOthers }: Statement,
  now: Date,
): object | undefined {
  const before = statusIn(raw);
  const standing = conditionsOf(raw);
  const observedGeneration = raw.metadata.generation ?? 0;
  const stated = conditions.map((condition) => state(condition, standing, observedGeneration, now));
  const named = new Set(stated.map(({ type }) => type));
  const others = keepOthers
    ? standing.filter((condition) => !named.has(condition.type) && !isAboutWork(condition))
    : [];
  const after = {
    ...(fields ?? before),
    observedGeneration,
    conditions: [...others, ...stated].sort((a, b) => order(a) - order(b)),
  };
  return isDeepStrictEqual(plain(before), plain(after)) ? undefined : after;
}

/** The condition of an object whose runs ask for the next one at once, and change nothing. */
export const noProgress: Condition = {
  type: stalled,
  status: "True",
  reason: "NoProgress",
  message:
    "Runs ask to run again within a second, and change nothing: they are retried with backoff. If the function works on " +
    "something outside the cluster, have its status or its message show how far it is; else have it wait longer, or for a change.",
};

/** True if writing a statement would change nothing but whether work is under way. */
export function isUnchanged(raw: KubeObject, statement: Statement, now: Date): boolean {
  const others = <T extends Condition>(all: readonly T[]): readonly T[] =>
    all.filter((one) => !isAboutWork(one));
  const status = { ...statusIn(raw), conditions: others(conditionsOf(raw)) };
  return (
    differing({ ...raw, status }, { ...statement, conditions: others(statement.conditions) }, now) ===
    undefined
  );
}

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
    lastTransitionTime: before?.lastTransitionTime ?? timestamp(now),
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
const plain = (value: unknown): unknown => parseJson(writeJson(value));
