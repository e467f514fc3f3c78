import { AbortMultipartUploadCommand, DeleteObjectCommand, DeleteObjectsCommand } from "@aws-sdk/client-s3";
import type { Emptied } from "./bucket-store.ts";
import type { BucketCall } from "./s3-call.ts";
import { answerOf, nextAfter, S3Refusal } from "./s3-errors.ts";
import { type Item, type Listed, listUploads, listVersions, type Marker } from "./s3-listing.ts";

/** Pages in one go: some seconds. A bucket of any size is emptied in many runs, none of them long. */
const mostPages = 10;
/** Milliseconds after which no further page is begun, for a server that is slow. */
const longest = 20_000;
/** What one DeleteObjects takes. */
const mostTogether = 1_000;
/** Items of one page that get a request each. The next page has the others. */
const mostAlone = 200;
const requestsAtOnce = 16;

/**
 * Deletes some of what is in a bucket: up to ten thousand objects, versions and delete markers, then unfinished uploads.
 * Retention is respected: nothing is bypassed.
 *
 * An item counts as deleted when a listing does not name it any more, because S3 confirms the deletion of names that
 * were never there. An item that is still listed after its last way was tried is kept, and the others go on.
 */
export async function emptyBucket(call: BucketCall): Promise<Emptied> {
  const end = performance.now() + longest;
  const versions = await emptied(versionsIn(call), end);
  if (versions.next !== undefined) return versions;
  const uploads = await emptied(uploadsTo(call), end);
  return {
    deleted: versions.deleted + uploads.deleted,
    kept: [...versions.kept, ...uploads.kept],
    next: uploads.next,
  };
}

/** One kind of thing in a bucket. */
interface Source {
  list(after: Marker | undefined): Promise<Listed>;
  /**
   * Tries to delete items, or some of them.
   *
   * @param again those that were tried before and are listed still.
   */
  remove(items: readonly Item[], again: ReadonlySet<Item>): Promise<readonly Try[]>;
}

interface Try {
  readonly item: Item;
  /** Whether there is no other way to delete it. */
  readonly isLast: boolean;
  /** The reason if it is listed still. */
  readonly refusal?: string | undefined;
}

async function emptied(source: Source, end: number): Promise<Emptied> {
  const tries = new Map<string, Try>();
  const kept = new Map<string, Try>();
  let after: Marker | undefined;
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
    if (isDone || pages >= mostPages || performance.now() > end) {
      return {
        deleted: tries.size - kept.size - again.size,
        kept: [...kept.values()].map(({ item, refusal = stillListed }) => ({
          key: item.shown,
          why: refusal,
        })),
        next: isDone ? undefined : (first?.shown ?? ""),
      };
    }
    // Deletions do not shift a page that is read from the same place again. Only past kept items the place moves on.
    if (first === undefined) after = next;
    else for (const one of await source.remove(left, again)) tries.set(one.item.id, one);
  }
}

const stillListed = "it is listed still after its deletion was confirmed";

/** Names that XML can carry are deleted together; the others, and those that are listed again, by URL. */
const versionsIn = (call: BucketCall): Source => ({
  async list(after) {
    const page = await listVersions(call, after);
    if (page instanceof S3Refusal) throw nextAfter(page, `list what is in bucket ${call.bucket.Bucket}`);
    return page;
  },
  async remove(items, again) {
    const isForXml = (item: Item): boolean => !again.has(item) && inXml.test(item.key ?? "\0");
    const together = await deleteTogether(call, items.filter(isForXml).slice(0, mostTogether));
    const alone = items.filter((item) => !isForXml(item)).slice(0, mostAlone);
    return [...together, ...(await eachAlone(alone, (item) => deleteAlone(call, item)))];
  },
});

/** Characters of XML 1.0, section 2.2. */
const inXml = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]+$/u;

async function deleteTogether(
  { client, bucket, http }: BucketCall,
  items: readonly Item[],
): Promise<readonly Try[]> {
  if (items.length === 0) return [];
  const Objects = items.map(({ key: Key, versionId: VersionId }) => ({ Key, VersionId }));
  const command = new DeleteObjectsCommand({ ...bucket, Delete: { Objects, Quiet: true } });
  const answer = await answerOf(client.send(command, http));
  if (answer instanceof S3Refusal) {
    // There is still the other way: some servers delete nothing together, or read XML more strictly.
    if (answer.notSupported || answer.code === "MalformedXML") {
      return items.map((item) => ({ item, isLast: false }));
    }
    throw nextAfter(answer, `delete what is in bucket ${bucket.Bucket}`);
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
  { key: Key, versionId: VersionId }: Item & Named,
) => answerOf<object>(client.send(new DeleteObjectCommand({ ...bucket, Key, VersionId }), http));

const uploadsTo = (call: BucketCall): Source => ({
  async list(after) {
    const page = await listUploads(call, after);
    if (!(page instanceof S3Refusal)) return page;
    if (page.notSupported) return { items: [], next: undefined };
    throw nextAfter(page, `list the unfinished uploads to bucket ${call.bucket.Bucket}`);
  },
  remove: (items) => eachAlone(items.slice(0, mostAlone), (item) => abort(call, item)),
});

const abort = ({ client, bucket, http }: BucketCall, { key: Key, uploadId: UploadId }: Item & Named) =>
  answerOf<object>(client.send(new AbortMultipartUploadCommand({ ...bucket, Key, UploadId }), http));

interface Named {
  readonly key: string;
}

/** Deletes items by URL, several at a time. A refusal becomes the item's; an error that concerns all items is thrown. */
async function eachAlone(
  items: readonly Item[],
  remove: (item: Item & Named) => Promise<object>,
): Promise<readonly Try[]> {
  const rest = items.values();
  const tries: Try[] = [];
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
  // No request is left under way.
  for (const ended of await Promise.allSettled(workers)) if (ended.status === "rejected") throw ended.reason;
  return tries;
}

async function refusalOf(
  { key, ...item }: Item,
  remove: (item: Item & Named) => Promise<object>,
): Promise<string | undefined> {
  if (key === undefined) return "its name is not UTF-8";
  // A proxy or the server may resolve the dots, and the path is that of another bucket then.
  if (key.split("/").some((segment) => segment === "." || segment === "..")) {
    return 'its name, as a part of a URL, has the segment "." or ".."';
  }
  const answer = await remove({ ...item, key });
  if (!(answer instanceof S3Refusal)) return undefined;
  if (answer.status === undefined || answer.status >= 500 || answer.status === 429) {
    throw nextAfter(answer, `delete ${item.shown}`);
  }
  return answer.message;
}
