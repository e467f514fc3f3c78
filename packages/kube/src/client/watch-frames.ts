import { parseJson } from "@drover/json";
import { z } from "zod";
import { connectionError, MalformedReplyError, type ApiError } from "../errors.ts";
import { type KubeObject, apiStatusSchema } from "../objects/kube-object.ts";
import { apiErrorFrom, decoded, objectFrom, parsedAs } from "./reply.ts";
import type { ResourceRef } from "../objects/resource-ref.ts";
import type { StreamReply } from "../transport/transport.ts";

/** One frame of a watch. */
export type WatchFrame =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  /** No change has happened up to this version. `initialEventsEnd` closes the first part of a WatchList. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  /** The server ends the watch, with a reason; after `Expired`, list again. */
  | { readonly type: "ERROR"; readonly error: ApiError };

/** The kind that is watched. */
export interface Watching {
  readonly ref: ResourceRef;
  /** True if only metadata was requested. */
  readonly partial: boolean;
}

/** Largest frame, in bytes; etcd takes objects of 1.5 MiB by default. */
const longestFrame = 8 * 1024 * 1024;

/**
 * The frames of a watch's body, one JSON object per line; frames that arrived together are yielded together.
 *
 * @param onActivity called for every chunk that arrives, however small.
 * @throws ConnectionError if the body breaks off, MalformedReplyError for an invalid frame: truncated, too long, not
 * JSON, of another kind, an object without uid, an ERROR without a code. Frames before it are yielded.
 */
export async function* watchFrames(
  reply: StreamReply,
  { ref, partial }: Watching,
  onActivity: () => void,
): AsyncGenerator<readonly WatchFrame[], void, undefined> {
  for await (const piece of lines(reply, onActivity)) {
    const frames: WatchFrame[] = [];
    try {
      for (const line of piece) {
        const text = frameText(reply, line);
        if (text !== "") frames.push(frameFrom(reply, { ref, partial }, text));
      }
    } catch (error) {
      if (frames.length > 0) yield frames;
      throw error;
    }
    if (frames.length > 0) yield frames;
  }
}

const frameSchema = z.looseObject({
  type: z.enum(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]),
  object: z.looseObject({}),
});
const bookmarkSchema = z.looseObject({
  metadata: z.looseObject({
    resourceVersion: z.string().min(1),
    annotations: z.record(z.string(), z.string()).nullish(),
  }),
});
const errorSchema = apiStatusSchema.extend({ code: z.number().int().min(400).max(599) });

function frameFrom(reply: StreamReply, { ref, partial }: Watching, line: string): WatchFrame {
  const { type, object } = parsed(reply, frameSchema, fromJson(reply, line));
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object: objectFrom(reply.request, ref, object, partial) };
    case "BOOKMARK": {
      const { resourceVersion, annotations } = parsed(reply, bookmarkSchema, object).metadata;
      return {
        type,
        resourceVersion,
        initialEventsEnd: annotations?.["k8s.io/initial-events-end"] === "true",
      };
    }
    case "ERROR": {
      const status = parsed(reply, errorSchema, object);
      return { type, error: apiErrorFrom({ ...reply, retryAfter: undefined }, status.code, status) };
    }
  }
}

function fromJson(reply: StreamReply, line: string): unknown {
  try {
    return parseJson(line);
  } catch (cause) {
    throw new MalformedReplyError(
      reply.request,
      `a frame is not JSON: ${JSON.stringify(line.slice(0, 80))}.`,
      cause,
    );
  }
}

const parsed = <T extends z.ZodType>({ request }: StreamReply, schema: T, value: unknown): z.output<T> =>
  parsedAs(request, schema, value, "a frame is wrong: ");

/** Complete lines, those of a chunk together, each in parts. */
async function* lines(
  reply: StreamReply,
  onActivity: () => void,
): AsyncGenerator<readonly Parts[], void, undefined> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks(reply)) {
    onActivity();
    let start = 0;
    const whole: Parts[] = [];
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      whole.push([...held, chunk.subarray(start, end)]);
      held = [];
      size = 0;
      start = end + 1;
    }
    if (whole.length > 0) yield whole;
    held.push(chunk.subarray(start));
    size += chunk.byteLength - start;
    if (size > longestFrame) {
      throw new MalformedReplyError(reply.request, `a frame has more than ${longestFrame} bytes.`);
    }
  }
  const rest = frameText(reply, held);
  if (rest !== "") throw new MalformedReplyError(reply.request, "it ended in the middle of a frame.");
}

type Parts = readonly Uint8Array[];
const newline = 0x0a;

async function* chunks(reply: StreamReply): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of reply.body) yield chunk;
  } catch (cause) {
    throw connectionError(reply.request, cause);
  } finally {
    reply.body.destroy();
  }
}

const frameText = (reply: StreamReply, held: Parts): string =>
  decoded(reply, Buffer.concat(held), "a frame").trim();
