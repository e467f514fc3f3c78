import type { IncomingMessage } from "node:http";

/** A body was refused; `why` is the reason. */
export class BodyRefusedError extends Error {
  override readonly name = "BodyRefusedError";
  readonly why: "too large" | "cut off" | "displaced" | "too slow";
  constructor(why: BodyRefusedError["why"]) {
    super(`The body is ${why}.`);
    this.why = why;
  }
}

/**
 * The complete body of a request, of `most` bytes at most. Each chunk is reported to `onBytes` as it arrives.
 * @param closed fires with a BodyRefusedError when the connection is closed.
 * @throws BodyRefusedError
 */
export async function readIncomingBody(
  incoming: IncomingMessage,
  most: number,
  closed: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  const bodyOf: AsyncIterable<Buffer> = incoming.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of bodyOf) {
      size += chunk.length;
      if (size > most) throw new BodyRefusedError("too large");
      chunks.push(chunk);
      onBytes(chunk.length);
      closed.throwIfAborted();
    }
  } catch (error) {
    if (error instanceof BodyRefusedError) throw error;
    const reason: unknown = closed.reason;
    throw reason instanceof BodyRefusedError ? reason : new BodyRefusedError("cut off");
  }
  return Buffer.concat(chunks);
}
