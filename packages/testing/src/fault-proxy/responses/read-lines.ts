import type { Readable } from "node:stream";

/**
 * The lines of a stream. Throws if the stream breaks off, which readline does not. A last line without a line end is
 * dropped.
 */
export async function* readLines(stream: Readable): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: true })) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError("A stream of bytes was expected.");
    const lines = (held + decoder.decode(chunk, { stream: true })).split("\n");
    held = lines.pop() ?? "";
    yield* lines;
  }
}
