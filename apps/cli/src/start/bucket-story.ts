import { type BucketView, isReadyNow } from "./bucket-view.ts";
import type { Tone } from "./narrator.ts";

/** One change of a Bucket, as a sentence. */
export interface News {
  readonly text: string;
  readonly tone: Tone;
}

/** The changes of a Bucket between two states; `undefined`: it did not exist. */
export function newsOf(before: BucketView | undefined, after: BucketView | undefined): readonly News[] {
  if (after === undefined) return before === undefined ? [] : [plain(endOf(before))];
  if (before === undefined)
    return [plain(`the object is there (generation ${after.generation})`), ...changes(blank, after)];
  if (before.uid !== after.uid)
    return [plain("the object is gone, and another one has its name"), ...changes(blank, after)];
  return changes(before, after);
}

/** An object that is being deleted disappears with its last finalizer, so it is never seen without one. */
const endOf = ({ deleting, finalizers }: BucketView): string =>
  deleting && finalizers.length > 0
    ? "its finalizer was removed, and the object is gone"
    : "the object is gone";

const blank = {
  finalizers: [],
  deleting: false,
  announced: false,
  ready: undefined,
  generation: undefined,
} as const;
type Earlier = BucketView | typeof blank;

function changes(before: Earlier, after: BucketView): readonly News[] {
  return [
    ...specNews(before, after),
    ...finalizerNews(before, after),
    ...deletionNews(before, after),
    ...statusNews(before, after),
  ];
}

function specNews(before: Earlier, { generation, deleting }: BucketView): readonly News[] {
  // Deleting an object with finalizers increments its generation, too.
  if (before.generation === undefined || before.generation === generation || deleting) return [];
  return [plain(`the spec was changed (generation ${generation})`)];
}

function finalizerNews(before: Earlier, after: BucketView): readonly News[] {
  const had: readonly string[] = before.finalizers;
  const added = after.finalizers.filter((name) => !had.includes(name));
  const removed = had.filter((name) => !after.finalizers.includes(name));
  return [
    ...added.map((name) =>
      plain(`finalizer ${name} persisted: the object stays until its bucket is deleted or released`),
    ),
    ...removed.map((name) => plain(`finalizer ${name} removed: nothing is left to do for it`)),
  ];
}

function deletionNews(before: Earlier, { deleting, onDelete }: BucketView): readonly News[] {
  if (!deleting || before.deleting) return [];
  const then = onDelete === "Delete" ? "its bucket is deleted first" : "its bucket is kept, and released";
  return [plain(`deletion was requested: ${then} (onDelete: ${onDelete ?? "Retain"})`)];
}

function statusNews(before: Earlier, after: BucketView): readonly News[] {
  const { ready, bucket } = after;
  if (after.announced && !before.announced) {
    return [
      plain(`bucket ${bucket ?? ""} does not exist yet; the status records that it is about to be created`),
    ];
  }
  if (ready === undefined || said(before) === said(after)) return [];
  if (isReadyNow(after)) return [{ text: `Ready: ${ready.message}`, tone: "good" }];
  if (ready.status === "True") return [];
  return [
    {
      text: `not Ready (${ready.reason}): ${ready.message}`,
      tone: ready.status === "Unknown" ? "plain" : "bad",
    },
  ];
}

/** Identifies the content of the Ready condition and the generation that it is for. */
function said(view: Earlier): string {
  if (view.ready === undefined) return "";
  const { status, reason, message } = view.ready;
  return JSON.stringify([status, reason, message, view.observedGeneration, view.generation]);
}

const plain = (text: string): News => ({ text, tone: "plain" });
