import { type ObjectKey, objectKeyIn } from "@drover/controller";
import { isMeant } from "@drover/kube";
import type { RedisConnection } from "@drover/queue";
import { z } from "zod";
import type { Fleet } from "./fleet.ts";

/** A reverse index: the objects of one subscription, on one stream. */
export interface FileRef {
  readonly stream: string;
  readonly file: string;
}

/** A lookup: finds the entries under any of these terms, if their note matches the terms. */
export interface Question {
  readonly sought: readonly string[];
}

/** A part of a lookup's result. An object with entries under several terms may be found several times. */
export interface Found<Q extends Question> {
  readonly question: Q;
  readonly keys: readonly ObjectKey[];
}

/** The reverse indexes of all streams, for the lookups of affected objects. */
export interface Files {
  find<Q extends Question>(ref: FileRef, questions: readonly Q[]): AsyncIterable<Found<Q>>;
}

/** Members read in one call for one term. */
const perPiece = 500;

export function openFiles(redis: RedisConnection, { prefixOf }: Fleet): Files {
  return {
    async *find({ stream, file }, questions) {
      const name = `${prefixOf(stream)}:file:${file}`;
      let unread = questions.flatMap((question) =>
        question.sought.map((term) => ({ question, from: `[${term}\0`, to: `(${term}\u0001` })),
      );
      while (unread.length > 0) {
        const reading = redis.pipeline();
        for (const { from, to } of unread) reading.zrangebylex(name, from, to, "LIMIT", 0, perPiece);
        const pieces = ((await reading.exec()) ?? []).map(([error, members]) => {
          if (error) throw error;
          return membersSchema.parse(members);
        });
        for (const [i, { question }] of unread.entries()) {
          const keys = (pieces[i] ?? []).flatMap((member) => keyMeant(member, question.sought));
          if (keys.length > 0) yield { question, keys };
        }
        unread = unread.flatMap((one, i) => {
          const last = pieces[i]?.[perPiece - 1];
          return last === undefined ? [] : [{ ...one, from: `(${last}` }];
        });
      }
    },
  };
}

const membersSchema = z.array(z.string());

/** Members consist of term, key and note, with zero bytes between them; a note may contain some of its own. */
function keyMeant(member: string, sought: readonly string[]): readonly ObjectKey[] {
  const [, text = "", ...note] = member.split("\0");
  const key = objectKeyIn(text);
  return key !== undefined && isMeant(sought, note.join("\0")) ? [key] : [];
}
