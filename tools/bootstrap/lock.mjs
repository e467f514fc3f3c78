// A lock between processes that is free again as soon as its holder is gone, however it went: the holder listens on a
// Unix socket, and each process that waits holds a connection to it, which the kernel closes with the holder.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { stat, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** A path for a folder's lock that is short enough for a socket, whatever the folder's is. */
export function lockPath(folder) {
  const hash = createHash("sha256").update(`${userInfo().uid} ${folder}`).digest("hex").slice(0, 16);
  return join(tmpdir(), `drover-install-${hash}.sock`);
}

/** Runs `work` while holding the lock. `onWait` is called once if another process has it; `signal` ends the wait. */
export async function withLock(path, { onWait = () => undefined, signal }, work) {
  let wasDead = false;
  for (let waited = false; ;) {
    signal?.throwIfAborted();
    const release = await take(path, wasDead);
    if (release !== undefined) return work().finally(release);
    const onAlive = () => {
      if (!waited) onWait();
      waited = true;
    };
    const holder = await untilReleased(path, onAlive, signal);
    wasDead = holder === "dead";
    if (wasDead) await rm(path, { force: true });
  }
}

async function take(path, wasDead) {
  const waiting = new Set();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on("error", () => undefined).on("close", () => waiting.delete(socket));
    socket.resume();
  });
  const release = () => {
    server.close();
    for (const socket of waiting) socket.destroy();
  };
  try {
    server.listen(path);
    await once(server, "listening");
  } catch (error) {
    if (error.code === "EADDRINUSE") return undefined;
    throw error;
  }
  if (!wasDead) return release;
  // A process that found the same dead socket may be about to remove ours in its place: the last one has the lock.
  const ours = await stat(path);
  await delay(200);
  const now = await stat(path).catch(() => undefined);
  if (now?.ino === ours.ino) return release;
  for (const socket of waiting) socket.destroy();
  return undefined;
}

async function untilReleased(path, onAlive, signal) {
  const socket = connect({ path, signal }).resume();
  let failure;
  socket.once("connect", onAlive).on("error", (error) => (failure = error));
  await new Promise((resolve) => socket.once("close", resolve));
  signal?.throwIfAborted();
  if (failure?.code === "ECONNREFUSED") return (await isStillRefused(path)) ? "dead" : "released";
  // Reset: killed while we waited. No entry: released between our attempt to take the lock and now.
  if (failure === undefined || ["ECONNRESET", "ENOENT"].includes(failure.code)) return "released";
  throw failure;
}

/** A process binds its socket first, and listens a moment later: only a socket that refuses for longer is dead. */
async function isStillRefused(path) {
  await delay(500);
  const socket = connect(path);
  return new Promise((resolve) => {
    socket
      .once("connect", () => resolve(false))
      .once("error", ({ code }) => resolve(code === "ECONNREFUSED"));
  }).finally(() => socket.destroy());
}
