import { once } from "node:events";
import type { ServerResponse } from "node:http";

/** Writes, and waits until there is room for more. */
export async function written(to: ServerResponse, chunk: Uint8Array): Promise<void> {
  if (to.write(chunk) || to.destroyed) return;
  await Promise.race([once(to, "drain"), once(to, "close")]).catch(() => undefined);
}
