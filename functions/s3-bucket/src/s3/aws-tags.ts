import { reservedPrefix, type Tags } from "@drover/external";

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
