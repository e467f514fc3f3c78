// A lock between processes that is free again as soon as its holder is gone, however it went: the holder listens on
// a Unix socket, and each process that waits holds a connection to it, which the kernel closes with the holder.
//
// Caveat: two that find the same dead socket at once may both get the lock. It is for saving work, not for safety.
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { codeOf } from "./error-code.ts";

export interface LockOptions {
  /** Called once if another process has the lock. */
  readonly onWait?: () => void;
  readonly signal?: AbortSignal | undefined;
}

/** Runs `work` while holding the lock at `path`, a path short enough for a Unix socket (about 100 characters). */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  for (let waited = false; ; waited = true) {
    options.signal?.throwIfAborted();
    const release = await take(path);
    if (release !== undefined) return await work().finally(release);
    if (!waited) options.onWait?.();
    const holder = await untilReleased(path, options.signal);
    if (holder === "dead") await rm(path, { force: true });
  }
}

/** Gives the function that releases the lock, or undefined when the path is taken, by the living or the dead. */
async function take(path: string): Promise<(() => void) | undefined> {
  const waiting = new Set<Socket>();
  const server: Server = createServer((socket) => {
    waiting.add(socket);
    socket.on("error", () => undefined).on("close", () => waiting.delete(socket));
    socket.resume();
  });
  server.listen(path);
  try {
    await once(server, "listening");
  } catch (error) {
    if (codeOf(error) === "EADDRINUSE") return undefined;
    throw error;
  }
  return () => {
    server.close();
    for (const socket of waiting) socket.destroy();
  };
}

async function untilReleased(path: string, signal: AbortSignal | undefined): Promise<"released" | "dead"> {
  const socket = connect({ path, ...(signal && { signal }) });
  let failure: Error | undefined;
  socket.on("error", (error) => (failure = error)).resume();
  await new Promise((resolve) => socket.once("close", resolve));
  signal?.throwIfAborted();
  const code = codeOf(failure);
  if (code === "ECONNREFUSED") return "dead";
  // Reset: killed while we waited. No entry: released between our attempt to take the lock and now.
  if (failure === undefined || code === "ECONNRESET" || code === "ENOENT") return "released";
  throw failure;
}
