import type { ServerResponse } from "node:http";

/** Writes, and waits until there is room for more, or until the client has gone. */
export async function writeChunk(to: ServerResponse, chunk: Uint8Array): Promise<void> {
  if (to.write(chunk) || to.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      to.off("drain", done).off("close", done);
      resolve();
    };
    to.on("drain", done).on("close", done);
  });
}
