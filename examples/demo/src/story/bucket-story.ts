import { type BucketView, isReadyNow } from "./bucket-view.ts";
import type { Tone } from "./narrator.ts";

/** One change of a Bucket, as a sentence. */
export interface StoryLine {
  readonly text: string;
  readonly tone: Tone;
}

/** The changes of a Bucket between two states; `undefined`: it did not exist. */
export function describeBucketChanges(
  before: BucketView | undefined,
  after: BucketView | undefined,
): readonly StoryLine[] {
  if (after === undefined) return before === undefined ? [] : [line(endOf(before))];
  if (before === undefined)
    return [line(`the object is there (generation ${after.generation})`), ...changes(blank, after)];
  if (before.uid !== after.uid)
    return [line("the object is gone, and another one has its name"), ...changes(blank, after)];
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

function changes(before: Earlier, after: BucketView): readonly StoryLine[] {
  return [
    ...describeSpecChange(before, after),
    ...describeFinalizerChange(before, after),
    ...describeDeletion(before, after),
    ...describeStatusChange(before, after),
  ];
}

function describeSpecChange(before: Earlier, { generation, deleting }: BucketView): readonly StoryLine[] {
  // Deleting an object with finalizers increments its generation, too.
  if (before.generation === undefined || before.generation === generation || deleting) return [];
  return [line(`the spec was changed (generation ${generation})`)];
}

function describeFinalizerChange(before: Earlier, after: BucketView): readonly StoryLine[] {
  const had: readonly string[] = before.finalizers;
  const added = after.finalizers.filter((name) => !had.includes(name));
  const removed = had.filter((name) => !after.finalizers.includes(name));
  return [
    ...added.map((name) =>
      line(`finalizer ${name} persisted: the object stays until its bucket is deleted or released`),
    ),
    ...removed.map((name) => line(`finalizer ${name} removed: nothing is left to do for it`)),
  ];
}

function describeDeletion(before: Earlier, { deleting, onDelete }: BucketView): readonly StoryLine[] {
  if (!deleting || before.deleting) return [];
  const then = onDelete === "Delete" ? "its bucket is deleted first" : "its bucket is kept, and released";
  return [line(`deletion was requested: ${then} (onDelete: ${onDelete ?? "Retain"})`)];
}

function describeStatusChange(before: Earlier, after: BucketView): readonly StoryLine[] {
  const { ready, bucket } = after;
  if (after.announced && !before.announced)
    return [
      line(`bucket ${bucket ?? ""} does not exist yet; the status records that it is about to be created`),
    ];
  if (ready === undefined || readyFingerprint(before) === readyFingerprint(after)) return [];
  if (isReadyNow(after)) return [line(`Ready: ${ready.message}`, "good")];
  if (ready.status === "True") return [];
  const tone = ready.status === "Unknown" ? "plain" : "bad";
  return [line(`not Ready (${ready.reason}): ${ready.message}`, tone)];
}

/** Identifies the content of the Ready condition and the generation that it is for. */
function readyFingerprint(view: Earlier): string {
  if (view.ready === undefined) return "";
  const { status, reason, message } = view.ready;
  return JSON.stringify([status, reason, message, view.observedGeneration, view.generation]);
}

const line = (text: string, tone: Tone = "plain"): StoryLine => ({ text, tone });
