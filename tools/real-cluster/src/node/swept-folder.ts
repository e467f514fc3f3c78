import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";

/** A folder that is removed when it is closed, and also when this process dies, however that comes about. */
export interface SweptFolder {
  readonly path: string;
  /** It is not removed before this process, which may still write to it, is gone. */
  waitFor(pid: number): void;
  /** Removes it. May be called again. */
  close(): Promise<void>;
}

// Reads which process to wait for, until our end of the pipe closes: then we are gone or have closed it.
const SWEEPER = `trap "" HUP INT QUIT TERM
while read -r line; do pid=$line; done
while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$1" 2>/dev/null && exit; sleep 0.2; done
exit 1`;

/** Makes a folder in `parent`, with a name that begins with `prefix`. */
export async function sweptFolder(parent: string, prefix: string): Promise<SweptFolder> {
  const path = await mkdtemp(join(parent, prefix));
  const sweeper = spawn("/bin/sh", ["-c", SWEEPER, "sh", path], {
    detached: true,
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  const gone = once(sweeper, "exit");
  await once(sweeper, "spawn");
  sweeper.stdin.on("error", () => undefined);
  return {
    path,
    waitFor: (pid) => void sweeper.stdin.write(`${pid}\n`),
    async close() {
      sweeper.stdin.end();
      await gone;
      if (sweeper.exitCode !== 0) throw new Error(`${path} could not be removed: remove it by hand.`);
    },
  };
}
