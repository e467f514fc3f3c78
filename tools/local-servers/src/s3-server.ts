import { join, resolve } from "node:path";
import { ensurePythonTool, type PythonTool } from "./python-tool.ts";
import { serverFolder } from "./server-folder.ts";
import { spawnTied } from "./tied-process.ts";
import { untilReady } from "./until-ready.ts";

export interface S3Options {
  /** Default: one that the system picks. */
  port?: number;
  /** Holds `s3.log`; the buckets are in memory. Default: a temporary folder that `stop` removes. */
  dir?: string;
  /** Gives up starting. A server that has started is stopped with `stop`. */
  signal?: AbortSignal | undefined;
}

export interface S3Server {
  /** `http://127.0.0.1:PORT`. Buckets are in the path: clients need `forcePathStyle`. */
  readonly url: string;
  readonly pid: number;
  /** moto takes any key; these do for clients that want one. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Ends the server, and with it all buckets. May be repeated. */
  stop(): Promise<void>;
}

const MOTO: PythonTool = {
  name: "moto",
  requirements: resolve(import.meta.dirname, "../python/moto.txt"),
  runsInPython: true,
};

/**
 * Starts moto, which answers as S3, on 127.0.0.1 and waits until it answers. It dies with this process. The first
 * time, its packages are installed with pip (about ten seconds).
 * Rejects with what to install when Python or pip is missing, and with the end of its log when it does not start.
 */
export async function startS3({ port = 0, dir, signal }: S3Options = {}): Promise<S3Server> {
  const packages = await ensurePythonTool(MOTO, { signal });
  const folder = await serverFolder("s3", dir);
  let url: string | undefined;
  try {
    const child = await spawnTied({
      name: "moto",
      command: "python3",
      args: ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)],
      // Compiled modules are kept in the tool's folder, which halves the next start.
      env: { PYTHONPATH: packages, PYTHONUNBUFFERED: "1", PYTHONDONTWRITEBYTECODE: undefined },
      cwd: folder.path,
      logFile: join(folder.path, "s3.log"),
      onLine: (line) => (url ??= /Running on (http:\S+)/.exec(line)?.[1]),
    });
    await untilReady(child, async (giveUp) => url !== undefined && (await answers(url, giveUp)), { signal });
    return {
      url: url ?? "",
      pid: child.pid,
      accessKeyId: "local",
      secretAccessKey: "local-secret",
      region: "us-east-1",
      async stop() {
        await child.stop();
        await folder.close();
      },
    };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  return fetch(url, { signal }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}
