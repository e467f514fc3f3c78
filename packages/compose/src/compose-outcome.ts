import {
  type Announcement,
  type Condition,
  type Milliseconds,
  type ObjectKey,
  readyCondition,
  type ResourceRef,
  RetryError,
  splitObjectKey,
  type StatusCondition,
  TerminalError,
} from "@drover/controller";
import type { ChildReport } from "./apply-child.ts";
import type { AppliedChild, AppliedWaves } from "./apply-waves.ts";
import { titleOf } from "./child.ts";
import { lastCorrection } from "./correction.ts";

/** The condition of an object with children that others keep changing. */
const contestedCondition = "Contested";

/** Most lines of a message: a status has to stay readable, and within the API server's limits. */
const maxLines = 10;

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** One line for each child: `Deployment web: 1 of 3 replicas are available.` */
const messageFor = (
  children: readonly AppliedChild[],
  textOf: (child: AppliedChild) => string | undefined,
): string =>
  message(
    children.flatMap((each) => {
      const text = textOf(each);
      return text === undefined ? [] : [`${titleOf(each.child.ref, each.child.object)}: ${sentence(text)}`];
    }),
  );

function message(lines: readonly string[]): string {
  const more = lines.length - maxLines;
  return [...lines.slice(0, maxLines), ...(more > 0 ? [`And ${more} more.`] : [])].join(" ");
}

/**
 * The error for children that the API server has refused, or that others change again and again. If no other attempt can
 * help, the key is parked until the object changes.
 */
export function failureOf({ children }: AppliedWaves): Error | undefined {
  const failed = children.flatMap(({ report }) => (report.did === "failed" ? [report] : []));
  const isContested = children.some(({ report }) => report.did === "contested");
  const [first] = failed;
  const message = messageFor(children, ({ report }) => {
    if (report.did === "failed") return report.why;
    return report.did === "contested" ? `${change(report)}. ${advice}` : undefined;
  });
  if (first === undefined) return isContested ? new RetryError(message, { reason: "Contested" }) : undefined;
  const retried = failed.find(({ isFinal }) => !isFinal);
  return retried === undefined && !isContested
    ? new TerminalError(message, { reason: first.reason })
    : new RetryError(message, { reason: (retried ?? first).reason });
}

const advice =
  "This happens again and again, so that it is set back ever more slowly: stop the other manager, or do not declare these fields.";

/** Ready: true if all declared children exist, are as declared, and are ready. */
export function readiness({ children, later }: AppliedWaves): Condition {
  const waiting = messageFor(children, ({ notReady }) => notReady);
  if (waiting === "") {
    const message =
      children.length === 0 ? "There are no children." : `All ${children.length} children are ready.`;
    return { type: readyCondition, status: "True", reason: "Reconciled", message };
  }
  const rest = later.length === 0 ? "" : ` ${later.length} more children follow when these are ready.`;
  return { type: readyCondition, status: "False", reason: "ChildrenNotReady", message: `${waiting}${rest}` };
}

/** The children that others had changed, with the managers and the fields, for a message; empty: none. */
const correctionsOf = ({ children }: AppliedWaves): string =>
  messageFor(children, ({ report }) => (report.did === "corrected" ? change(report) : undefined));

function change({ by }: Extract<ChildReport, { by: unknown }>): string {
  if (by.length === 0) return "others have changed it";
  const fields = by.map(({ field, manager }) => `${field} by ${JSON.stringify(manager)}`);
  return `others have changed it: ${fields.join(", ")}`;
}

/** The condition Contested stays for this long after a correction. */
const contestedFor: Milliseconds = 60_000;

/** The condition Contested after a run: of its corrections, or that of an earlier run, which stays for a while. */
export function contestAfter(
  applied: AppliedWaves,
  conditions: readonly StatusCondition[] | undefined,
  now: Date,
): { readonly condition: Condition; readonly left: Milliseconds } | undefined {
  const corrections = correctionsOf(applied);
  if (corrections !== "") {
    const message = `Fields of children were set back. ${corrections}`;
    const condition = {
      type: contestedCondition,
      status: "True",
      reason: "ChildCorrected",
      message,
    } as const;
    return { condition, left: contestedFor };
  }
  const found = conditions?.find(({ type, status }) => type === contestedCondition && status === "True");
  if (found === undefined) return undefined;
  // The condition's own time is that of the first correction.
  const times = applied.children.flatMap(({ report }) =>
    "object" in report ? (lastCorrection(report.object, now)?.at.getTime() ?? []) : [],
  );
  const left = Math.max(Date.parse(found.lastTransitionTime), ...times) + contestedFor - now.getTime();
  const { type, status, reason, message } = found;
  return left > 0 ? { condition: { type, status, reason, message }, left } : undefined;
}

/** The reasons of Events, by how a run has changed a child. */
const reasons = {
  created: "ChildCreated",
  changed: "ChildChanged",
  adopted: "ChildAdopted",
  corrected: "ChildCorrected",
  removed: "ChildRemoved",
} as const;

/**
 * The Events for what a run has done to children, one of each kind: an Event is a request, and an object has a limited
 * number of them.
 */
export function announcementsOf(
  { children }: AppliedWaves,
  undeclared: readonly ChildOutcome[],
): readonly Announcement[] {
  const removed = undeclared
    .filter(({ did }) => did === "deleted" || did === "released")
    .map(({ ref, key, did }) => `${ref.kind} ${splitObjectKey(key).name} is ${did}`);
  const lineOf = ({ child, report }: AppliedChild): string => {
    const title = titleOf(child.ref, child.object);
    return report.did === "corrected"
      ? `${title} is set back: ${change(report)}`
      : `${title} is ${report.did}`;
  };
  return Object.entries(reasons).flatMap(([did, reason]) => {
    const lines =
      did === "removed" ? removed : children.filter(({ report }) => report.did === did).map(lineOf);
    if (lines.length === 0) return [];
    const action = did === "removed" ? "Prune" : "Apply";
    return [{ type: "Normal", reason, action, note: message(lines.map(sentence)) }];
  });
}

/** How a run has treated a child, declared or not. */
export interface ChildOutcome {
  readonly ref: ResourceRef;
  readonly key: ObjectKey;
  /**
   * `refused`: the API server does not accept it, or it belongs to others. `waits`: a later run changes it. The last
   * three are of children that are not declared any more.
   */
  readonly did:
    "nothing" | "created" | "changed" | "adopted" | "refused" | "waits" | "deleted" | "released" | "kept";
  /** The reason of a refusal or a wait, or the changes of others that were set back, as an unfinished sentence. */
  readonly why?: string;
}

/** The declared children of a run, in the order of their waves. */
export const childOutcomes = ({ children, later }: AppliedWaves): readonly ChildOutcome[] => [
  ...children.map(declaredOutcome),
  ...later.map(({ ref, key, wave }): ChildOutcome => {
    const why = `its wave, ${wave}, begins when all children of the waves before are ready`;
    return { ref, key, did: "waits", why };
  }),
];

function declaredOutcome({ child: { ref, key }, report }: AppliedChild): ChildOutcome {
  switch (report.did) {
    case "corrected":
      return { ref, key, did: "changed", why: change(report) };
    case "contested":
      return { ref, key, did: "waits", why: `${change(report)}; it was set back a short while ago` };
    case "failed":
      return { ref, key, did: "refused", why: report.why };
    case "waits":
      return { ref, key, did: "waits", why: report.why };
    case "nothing":
    case "created":
    case "changed":
    case "adopted":
      return { ref, key, did: report.did };
  }
}
