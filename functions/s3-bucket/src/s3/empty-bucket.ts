import { AwsRefusal } from "@drover/aws";
import { AbortMultipartUploadCommand, DeleteObjectCommand, DeleteObjectsCommand } from "@aws-sdk/client-s3";
import type { BucketCall } from "./bucket-call.ts";
import { responseOrRefusal, errorAfter } from "./s3-errors.ts";
import { type BucketItem, type ItemPage, listUploads, listVersions, type ListMarker } from "./list-items.ts";

/** The result of emptying a bucket. */
export interface EmptyResult {
  /** The number of items that were listed before and are not listed any more. */
  readonly deleted: number;
  /** Items that could not be deleted in any way: the quoted key, and the reason. */
  readonly kept: readonly { readonly key: string; readonly why: string }[];
  /** The quoted key at which the next run continues. Undefined if nothing is left to try. */
  readonly next: string | undefined;
}

/** The maximum number of pages in one run: some seconds. A bucket of any size is emptied in many short runs. */
const maxPages = 10;
/** Milliseconds after which no further page is begun, for slow servers. */
const maxDuration = 20_000;
/** The maximum number of items of one DeleteObjects. */
const maxBatch = 1_000;
/** The maximum number of items of one page that get a request each. The next listing has the others. */
const maxSingleDeletions = 200;
const requestsAtOnce = 16;

/**
 * Deletes a part of a bucket's contents: up to ten thousand objects, versions and delete markers, then unfinished
 * uploads. Retention is respected: nothing is bypassed.
 *
 * An item counts as deleted when it is not listed any more, because S3 also confirms the deletion of names that never
 * existed. An item that is still listed after the last way was tried is kept, and the others are deleted.
 */
export async function emptyBucket(call: BucketCall): Promise<EmptyResult> {
  const end = performance.now() + maxDuration;
  const versions = await emptied(versionsIn(call), end);
  if (versions.next !== undefined) return versions;
  const uploads = await emptied(uploadsTo(call), end);
  return {
    deleted: versions.deleted + uploads.deleted,
    kept: [...versions.kept, ...uploads.kept],
    next: uploads.next,
  };
}

/** One kind of items in a bucket. */
interface ItemSource {
  list(after: ListMarker | undefined): Promise<ItemPage>;
  /**
   * Tries to delete items, or some of them.
   *
   * @param again items that were tried before and are still listed.
   */
  remove(items: readonly BucketItem[], again: ReadonlySet<BucketItem>): Promise<readonly DeletionAttempt[]>;
}

interface DeletionAttempt {
  readonly item: BucketItem;
  /** True if no other way to delete it is left. */
  readonly isLast: boolean;
  /** The reason to report if it is still listed. */
  readonly refusal?: string | undefined;
}

async function emptied(source: ItemSource, end: number): Promise<EmptyResult> {
  const tries = new Map<string, DeletionAttempt>();
  const kept = new Map<string, DeletionAttempt>();
  let after: ListMarker | undefined;
  for (let pages = 0; ; pages++) {
    const { items, next } = await source.list(after);
    for (const { id } of items) {
      const last = tries.get(id);
      if (last?.isLast === true) kept.set(id, last);
    }
    const left = items.filter(({ id }) => !kept.has(id));
    const again = new Set(left.filter(({ id }) => tries.has(id)));
    const [first] = left;
    const isDone = first === undefined && next === undefined;
    if (isDone || pages >= maxPages || performance.now() > end) {
      return {
        deleted: tries.size - kept.size - again.size,
        kept: [...kept.values()].map(({ item, refusal = stillListed }) => ({
          key: item.shown,
          why: refusal,
        })),
        next: isDone ? undefined : (first?.shown ?? ""),
      };
    }
    // A page is read from the same place again, so deletions do not shift it. The place moves on only past kept items.
    if (first === undefined) after = next;
    else for (const one of await source.remove(left, again)) tries.set(one.item.id, one);
  }
}

const stillListed = "it is listed still after its deletion was confirmed";

/** Names that XML can represent are deleted together; the others, and those that are listed again, by URL. */
const versionsIn = (call: BucketCall): ItemSource => ({
  async list(after) {
    const page = await listVersions(call, after);
    if (page instanceof AwsRefusal) throw errorAfter(page, `list what is in bucket ${call.bucket.Bucket}`);
    return page;
  },
  async remove(items, again) {
    const isForXml = (item: BucketItem): boolean => !again.has(item) && inXml.test(item.key ?? "\0");
    const together = await deleteTogether(call, items.filter(isForXml).slice(0, maxBatch));
    const alone = items.filter((item) => !isForXml(item)).slice(0, maxSingleDeletions);
    return [...together, ...(await eachAlone(alone, (item) => deleteAlone(call, item)))];
  },
});

/** Characters of XML 1.0, section 2.2. */
const inXml = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]+$/u;

async function deleteTogether(
  { client, bucket, http }: BucketCall,
  items: readonly BucketItem[],
): Promise<readonly DeletionAttempt[]> {
  if (items.length === 0) return [];
  const Objects = items.map(({ key: Key, versionId: VersionId }) => ({ Key, VersionId }));
  const command = new DeleteObjectsCommand({ ...bucket, Delete: { Objects, Quiet: true } });
  const answer = await responseOrRefusal(client.send(command, http));
  if (answer instanceof AwsRefusal) {
    // The items are tried by URL next: some servers cannot delete several together, or parse XML more strictly.
    if (answer.notSupported || answer.code === "MalformedXML") {
      return items.map((item) => ({ item, isLast: false }));
    }
    throw errorAfter(answer, `delete what is in bucket ${bucket.Bucket}`);
  }
  const { Errors = [] } = answer;
  return items.map((item) => {
    const refused = Errors.find(
      ({ Key, VersionId = item.versionId }) => Key === item.key && VersionId === item.versionId,
    );
    return {
      item,
      isLast: refused?.Code === "AccessDenied",
      ...(refused && { refusal: `${refused.Code ?? "no code"}: ${refused.Message ?? "no reason given"}` }),
    };
  });
}

const deleteAlone = (
  { client, bucket, http }: BucketCall,
  { key: Key, versionId: VersionId }: BucketItem & NamedItem,
) => responseOrRefusal<object>(client.send(new DeleteObjectCommand({ ...bucket, Key, VersionId }), http));

const uploadsTo = (call: BucketCall): ItemSource => ({
  async list(after) {
    const page = await listUploads(call, after);
    if (!(page instanceof AwsRefusal)) return page;
    if (page.notSupported) return { items: [], next: undefined };
    throw errorAfter(page, `list the unfinished uploads to bucket ${call.bucket.Bucket}`);
  },
  remove: (items) => eachAlone(items.slice(0, maxSingleDeletions), (item) => abortUpload(call, item)),
});

const abortUpload = (
  { client, bucket, http }: BucketCall,
  { key: Key, uploadId: UploadId }: BucketItem & NamedItem,
) =>
  responseOrRefusal<object>(client.send(new AbortMultipartUploadCommand({ ...bucket, Key, UploadId }), http));

interface NamedItem {
  readonly key: string;
}

/**
 * Deletes items by URL, several at a time. A refusal is stored with its item; an error that affects all items is
 * thrown.
 */
async function eachAlone(
  items: readonly BucketItem[],
  remove: (item: BucketItem & NamedItem) => Promise<object>,
): Promise<readonly DeletionAttempt[]> {
  const rest = items.values();
  const tries: DeletionAttempt[] = [];
  let isOver = false;
  const work = async (): Promise<void> => {
    for (const item of rest) {
      if (isOver) return;
      tries.push({ item, isLast: true, refusal: await refusalOf(item, remove) });
    }
  };
  const workers = Array.from({ length: requestsAtOnce }, async () => {
    try {
      await work();
    } catch (error) {
      isOver = true;
      throw error;
    }
  });
  // All requests have ended before an error is thrown.
  for (const ended of await Promise.allSettled(workers)) if (ended.status === "rejected") throw ended.reason;
  return tries;
}

async function refusalOf(
  { key, ...item }: BucketItem,
  remove: (item: BucketItem & NamedItem) => Promise<object>,
): Promise<string | undefined> {
  if (key === undefined) return "its name is not UTF-8";
  // A proxy or the server may resolve the dots, and then the path leads to another bucket.
  if (key.split("/").some((segment) => segment === "." || segment === "..")) {
    return 'its name, as a part of a URL, has the segment "." or ".."';
  }
  const answer = await remove({ ...item, key });
  if (!(answer instanceof AwsRefusal)) return undefined;
  if (answer.status === undefined || answer.status >= 500 || answer.status === 429) {
    throw errorAfter(answer, `delete ${item.shown}`);
  }
  return answer.message;
}
