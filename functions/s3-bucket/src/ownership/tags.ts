import { createHash } from "node:crypto";

/** The tags of a bucket, without those of AWS. */
export type Tags = ReadonlyMap<string, string>;

/** All tags of a bucket. */
export interface TagSet {
  readonly tags: Tags;
  /**
   * Tags that AWS services set (`aws:...`). They do not count towards the limit, and can neither be changed nor
   * removed: a set that is written must contain them unchanged.
   */
  readonly ofAws: Tags;
}

const isOfAws = (key: string): boolean => /^aws:/i.test(key);

export const splitTags = (all: readonly (readonly [key: string, value: string])[]): TagSet => ({
  tags: new Map(all.filter(([key]) => !isOfAws(key))),
  ofAws: new Map(all.filter(([key]) => isOfAws(key))),
});

/** The limits of S3: https://docs.aws.amazon.com/AmazonS3/latest/userguide/CostAllocTagging.html */
export const tagLimits = { tags: 50, keyLength: 128, valueLength: 256 };

/** The prefix of Drover's own keys. Keys of a spec must not have it. */
export const reservedPrefix = "drover.dev/";
const managedKey = `${reservedPrefix}managed-tags`;

/** The maximum number of tags in a spec, which leaves room for Drover's own three. */
export const maxSpecTags = tagLimits.tags - 3;

const validCharacters = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/** The reason why S3 or Drover would refuse a tag of a spec, as a sentence. Undefined for a valid tag. */
export function tagProblem(key: string, value: string): string | undefined {
  const named = `Tag ${JSON.stringify(key)}`;
  if (key.length < 1 || key.length > tagLimits.keyLength) {
    return `${named}: a key has 1 to ${tagLimits.keyLength} characters.`;
  }
  if (value.length > tagLimits.valueLength) {
    return `${named}: a value has at most ${tagLimits.valueLength} characters; this one has ${value.length}.`;
  }
  if (!validCharacters.test(key) || !validCharacters.test(value)) {
    return `${named}: keys and values have letters, digits, blanks and _ . : / = + - @ only.`;
  }
  if (isOfAws(key)) return `${named}: AWS keeps keys that begin with "aws:" for itself.`;
  return key.startsWith(reservedPrefix)
    ? `${named}: Drover keeps keys that begin with "${reservedPrefix}".`
    : undefined;
}

/**
 * The complete set of tags that a bucket should have.
 *
 * S3 can only write the complete set, not a single tag, and several parties share it. So: keys of the spec are ours and
 * get the spec's values; keys that an earlier spec had and this one has not are removed; every other key belongs to
 * another party and is kept. The keys of the earlier spec are recorded in the set itself, under
 * `drover.dev/managed-tags`: S3 replaces a set in one step, so this record can never disagree with the tags, as a
 * record kept elsewhere could.
 *
 * Caveat: S3 has no conditional write. A tag that another client adds between our read and our write is lost. The write
 * follows the read at once, and nothing is written if nothing differs.
 */
export function mergedTags(current: Tags, spec: Readonly<Record<string, string>>, own: Tags): Tags {
  const asked = new Map(Object.entries(spec));
  const before = managedMarks(current);
  const others = [...current].filter(
    ([key]) => !isReserved(key) && !asked.has(key) && !before.has(mark(key)),
  );
  const managed = [...asked.keys()].sort().map(mark).join("");
  return new Map([...others, ...asked, ...own, ...(managed === "" ? [] : [[managedKey, managed] as const])]);
}

/** The tags that stay when Drover releases a bucket: all but its own marks. */
export const withoutMarks = (current: Tags): Tags =>
  new Map([...current].filter(([key]) => !isReserved(key)));

export const sameTags = (a: Tags, b: Tags): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);

const isReserved = (key: string): boolean => key.startsWith(reservedPrefix);

// 47 keys of up to 128 characters do not fit into one value of 256, but five characters of each key's hash do. These
// thirty bits are enough to distinguish the keys of one bucket.
const markLength = 5;
const mark = (key: string): string =>
  createHash("sha256").update(key).digest("base64url").slice(0, markLength);

function managedMarks(current: Tags): ReadonlySet<string> {
  return new Set(current.get(managedKey)?.match(new RegExp(`.{${markLength}}`, "g")));
}
