import { freePort } from "@drover/local-servers";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "../../harness/start-process.ts";
import type { Attack } from "../attack.ts";
import { audience, secret } from "./listeners.ts";

const MiB = 2 ** 20;
const bodies = 600;
const most = 200;

/** A served function in a process of its own. Its memory is the kernel's VmRSS. */
export const attack: Attack = {
  name: "unsigned bodies that are half-sent hold a bounded memory of a function",
  kind: "work before verification",
  needs: [],
  async run() {
    const folder = mkdtempSync(join(tmpdir(), "drover-held-"));
    writeFileSync(join(folder, "current"), secret, { mode: 0o600 });
    const port = await freePort();
    const served = await startProcess({
      name: "held",
      main: "examples/typescript/main.ts",
      logFile: join(folder, "log"),
      awaited: "Answering calls",
      env: {
        DROVER_HTTP_PORT: String(port),
        DROVER_WEBHOOK_AUDIENCE: audience.name,
        DROVER_WEBHOOK_SECRETS: folder,
      },
    });
    const before = residentOf(served.pid);
    const sockets = await Promise.all(Array.from({ length: bodies }, () => halfSent(port)));
    const grown = (residentOf(served.pid) - before) / MiB;
    for (const socket of sockets) socket.destroy();
    await served.stop();
    rmSync(folder, { recursive: true });
    return {
      succeeded: grown > most,
      evidence: `${bodies} half-sent bodies of 2 MiB: the function's memory grew by ${grown.toFixed(0)} MiB`,
    };
  },
};

/** 2 MiB less one byte, or as much as is taken before the connection is closed. */
async function halfSent(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" }).on("error", () => undefined);
  await once(socket, "connect");
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 * MiB}\r\n\r\n`);
  const taken = new Promise((resolve) => socket.write(Buffer.alloc(2 * MiB - 1), resolve));
  await Promise.race([taken, once(socket, "close")]);
  return socket;
}

const residentOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1_024;
