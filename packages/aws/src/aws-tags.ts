import { checkedAtRun } from "@drover/controller";
import { reservedPrefix, type Tags } from "@drover/external";
import { z } from "zod";

/** All tags of a resource. */
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

/** Tags as requests have them. */
export const tagList = (tags: Tags): { Key: string; Value: string }[] =>
  [...tags].map(([Key, Value]) => ({ Key, Value }));

/** The limits of AWS: https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html */
export const tagLimits = { tags: 50, keyLength: 128, valueLength: 256 };

/** The maximum number of tags in a spec, which leaves room for Drover's own three. */
export const maxSpecTags = tagLimits.tags - 3;

const validCharacters = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/** The reason why AWS or Drover would refuse a tag of a spec, as a sentence. Undefined for a valid tag. */
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

const tagSet = z.record(z.string(), z.string().max(tagLimits.valueLength));
const problemOfTags = (given: z.output<typeof tagSet>): string | undefined => {
  const entries = Object.entries(given);
  if (entries.length > maxSpecTags) {
    return `${entries.length} tags are too many: AWS takes ${tagLimits.tags}, and Drover needs ${tagLimits.tags - maxSpecTags} of them.`;
  }
  return entries.map(([key, value]) => tagProblem(key, value)).find((problem) => problem !== undefined);
};

/** The field of a spec with the tags of a resource. */
export const tagsSpec = (noun: string) =>
  tagSet
    .refine((given) => problemOfTags(given) === undefined, {
      error: (issue) => problemOfTags(tagSet.parse(issue.input)) ?? "Not tags.",
      ...checkedAtRun,
    })
    .default({})
    .describe(
      `Tags of the ${noun}. Tags of others are left alone; a key that is removed here is removed from the ${noun}.`,
    );
