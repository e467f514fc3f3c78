import { createHash } from "node:crypto";

/** The tags of a resource that its users may change. */
export type Tags = ReadonlyMap<string, string>;

/** The prefix of Drover's own keys. Keys of a spec must not have it. */
export const reservedPrefix = "drover.dev/";
const managedKey = `${reservedPrefix}managed-tags`;

/**
 * The complete set of tags that a resource should have.
 *
 * Some servers (S3) can only write the complete set, and several parties share it. So: keys of the spec are ours and
 * get the spec's values; keys that an earlier spec had and this one has not are removed; every other key belongs to
 * another party and is kept. The keys of the earlier spec are recorded in the set itself, under
 * `drover.dev/managed-tags`: a set is written in one step, so this record can never disagree with the tags, as a
 * record kept elsewhere could.
 *
 * Caveat: servers have no conditional write of tags. A tag that another client adds between our read and our write is
 * lost. The write follows the read at once, and nothing is written if nothing differs.
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

/** The tags that stay when Drover releases a resource: all but its own marks. */
export const withoutMarks = (current: Tags): Tags =>
  new Map([...current].filter(([key]) => !isReserved(key)));

export const sameTags = (a: Tags, b: Tags): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);

/** True for Drover's own keys. */
export const isReserved = (key: string): boolean => key.startsWith(reservedPrefix);

// 47 keys of up to 128 characters do not fit into one value of 256, but five characters of each key's hash do. These
// thirty bits are enough to distinguish the keys of one resource.
const markLength = 5;
const mark = (key: string): string =>
  createHash("sha256").update(key).digest("base64url").slice(0, markLength);

function managedMarks(current: Tags): ReadonlySet<string> {
  return new Set(current.get(managedKey)?.match(new RegExp(`.{${markLength}}`, "g")));
}
