/** What an S3 server that checks no signatures has in a bucket, by its own listings: text that is counted, and not parsed. */
export interface StoredItems {
  /** Versions and delete markers. */
  readonly versions: number;
  readonly uploads: number;
  /** Keys of objects, exactly: the server encodes these. */
  readonly keys: readonly string[];
}

/** Undefined when there is no such bucket. */
export async function storedItems(url: string, bucket: string): Promise<StoredItems | undefined> {
  const listed = async (query: string): Promise<string | undefined> => {
    const answer = await fetch(`${url}/${bucket}?${query}`);
    const text = await answer.text();
    if (answer.status === 404 && text.includes("NoSuchBucket")) return undefined;
    if (!answer.ok || text.includes("<IsTruncated>true<"))
      throw new Error(`${query}: ${answer.status} ${text}`);
    return text;
  };
  const [versions, uploads, objects] = await Promise.all([
    listed("versions&max-keys=1000000"),
    listed("uploads"),
    listed("list-type=2&encoding-type=url&max-keys=1000000"),
  ]);
  if (versions === undefined || uploads === undefined || objects === undefined) return undefined;
  return {
    versions: versions.match(/<(Version|DeleteMarker)>/g)?.length ?? 0,
    uploads: uploads.match(/<Upload>/g)?.length ?? 0,
    keys: [...objects.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => decodeURIComponent(key)),
  };
}
