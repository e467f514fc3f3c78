import { connectionError, MalformedReplyError } from "../errors.ts";
import type { StreamReply } from "./transport.ts";

/**
 * The complete body of a reply, of at most `limit` bytes.
 * @throws MalformedReplyError for a larger body, ConnectionError for one that breaks off.
 */
export async function readBounded(reply: StreamReply, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of reply.body) {
      size += chunk.byteLength;
      if (size > limit)
        throw new MalformedReplyError(reply.request, `its body has more than ${limit} bytes.`);
      chunks.push(chunk);
    }
  } catch (cause) {
    reply.body.destroy();
    throw cause instanceof MalformedReplyError ? cause : connectionError(reply.request, cause);
  }
  return Buffer.concat(chunks);
}
