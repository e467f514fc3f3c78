import type { Milliseconds } from "@drover/controller";
import { readBounded } from "../transport/bounded-body.ts";
import type { WatchOptions } from "./client.ts";
import { MalformedReplyError } from "../errors.ts";
import { refusalError } from "./reply.ts";
import { watchRequest } from "./request-shape.ts";
import type { ResourceRef } from "../objects/resource-ref.ts";
import type { Transport } from "../transport/transport.ts";
import { type WatchFrame, watchFrames } from "./watch-frames.ts";

/** Largest body of a refusal, in bytes. */
const longestRefusal = 1024 * 1024;

/** Opens a watch when its first frame is requested. Leaving the loop closes it. */
export async function* openWatch(
  transport: Transport,
  timeout: Milliseconds,
  ref: ResourceRef,
  options: WatchOptions,
): AsyncGenerator<readonly WatchFrame[], void, undefined> {
  const { signal, onActivity = () => undefined } = options;
  const reply = await transport.stream({ ...watchRequest(ref, options), signal, timeout });
  onActivity();
  if (reply.status !== 200) throw refusalError({ ...reply, body: await readBounded(reply, longestRefusal) });
  if (!reply.contentType.startsWith("application/json")) {
    reply.body.destroy();
    throw new MalformedReplyError(
      reply.request,
      `it answers with ${JSON.stringify(reply.contentType)}, not JSON.`,
    );
  }
  options.onOpen?.();
  try {
    yield* watchFrames(reply, { ref, partial: options.metadataOnly === true }, onActivity);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
