import { type ObjectKey, objectKeyIn } from "@drover/controller";
import { isMeant } from "@drover/kube";
import type { RedisConnection } from "@drover/queue";
import { seenBut, streamPrefix } from "./stream-keys.ts";

/** A file: who filed its objects, by the subscription, on which stream. */
export interface FileRef {
  readonly stream: string;
  readonly file: string;
}

/** The files of all streams, to be read by whoever looks up whom an object concerns. */
export interface Files {
  /** The keys that are filed under these terms, and meant by them, each once. */
  find(ref: FileRef, sought: readonly string[]): Promise<readonly ObjectKey[]>;
  /** The keys that mean something to a subscription, in pieces. */
  all(ref: FileRef): AsyncIterable<readonly ObjectKey[]>;
}

export function openFiles(redis: RedisConnection): Files {
  return {
    async find({ stream, file }, sought) {
      const name = `${streamPrefix(stream)}:file:${file}`;
      const found = await Promise.all(
        sought.map((term) => redis.zrangebylex(name, `[${term}\0`, `(${term}\u0001`)),
      );
      return [...new Set(found.flat().flatMap((member) => keyMeant(member, sought)))];
    },
    async *all({ stream, file }) {
      for await (const piece of seenBut(redis, streamPrefix(stream))) {
        yield piece.filter(({ meant }) => Object.hasOwn(meant, file)).map(({ key }) => key);
      }
    },
  };
}

/** Members are term, key and note, with zero bytes between; a note may have some of its own. */
function keyMeant(member: string, sought: readonly string[]): readonly ObjectKey[] {
  const [, text = "", ...note] = member.split("\0");
  const key = objectKeyIn(text);
  return key !== undefined && isMeant(sought, note.join("\0")) ? [key] : [];
}
