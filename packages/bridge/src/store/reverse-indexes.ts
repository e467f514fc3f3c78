import { type ObjectKey, tryParseObjectKey } from "@drover/controller";
import { isMatchingEntry } from "../mapping/index-entries.ts";
import type { RedisConnection } from "@drover/queue";
import { z } from "zod";
import type { BridgeGroup } from "../streams/bridge-group.ts";

/** A reverse index: the objects of one subscription, on one stream. */
export interface IndexRef {
  readonly stream: string;
  readonly index: string;
}

/** A lookup: finds the entries under any of these terms, if their note matches the terms. */
export interface IndexQuery {
  readonly sought: readonly string[];
}

/** A part of a lookup's result. An object with entries under several terms may be found several times. */
export interface IndexMatches<Q extends IndexQuery> {
  readonly question: Q;
  readonly keys: readonly ObjectKey[];
}

/** The reverse indexes of all streams, for the lookups of affected objects. */
export interface ReverseIndexes {
  find<Q extends IndexQuery>(ref: IndexRef, questions: readonly Q[]): AsyncIterable<IndexMatches<Q>>;
}

/** Members read in one call for one term. */
const membersPerRead = 500;

export function openReverseIndexes(redis: RedisConnection, { prefixOf }: BridgeGroup): ReverseIndexes {
  return {
    async *find({ stream, index }, questions) {
      const name = `${prefixOf(stream)}:file:${index}`;
      let unread = questions.flatMap((question) =>
        question.sought.map((term) => ({ question, from: `[${term}\0`, to: `(${term}\u0001` })),
      );
      while (unread.length > 0) {
        const reading = redis.pipeline();
        for (const { from, to } of unread) reading.zrangebylex(name, from, to, "LIMIT", 0, membersPerRead);
        const pieces = ((await reading.exec()) ?? []).map(([error, members]) => {
          if (error) throw error;
          return membersSchema.parse(members);
        });
        for (const [i, { question }] of unread.entries()) {
          const keys = (pieces[i] ?? []).flatMap((member) => matchingKeys(member, question.sought));
          if (keys.length > 0) yield { question, keys };
        }
        unread = unread.flatMap((one, i) => {
          const last = pieces[i]?.[membersPerRead - 1];
          return last === undefined ? [] : [{ ...one, from: `(${last}` }];
        });
      }
    },
  };
}

const membersSchema = z.array(z.string());

/** Members consist of term, key and note, with zero bytes between them; a note may contain some of its own. */
function matchingKeys(member: string, sought: readonly string[]): readonly ObjectKey[] {
  const [, text = "", ...note] = member.split("\0");
  const key = tryParseObjectKey(text);
  return key !== undefined && isMatchingEntry(sought, note.join("\0")) ? [key] : [];
}
