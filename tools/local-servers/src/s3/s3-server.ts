import { join, resolve } from "node:path";
import { urlToHttpOptions } from "node:url";
import { startGuardedFront } from "./guarded-front.ts";
import { ensurePythonTool, type PythonTool } from "../programs/python-tool.ts";
import { serverFolder } from "../server-folder.ts";
import { answersOk } from "../processes/answers-ok.ts";
import { type Exit, spawnTied } from "../processes/tied-process.ts";
import { waitUntilReady } from "../processes/wait-until-ready.ts";

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
  /** Resolves when the server has ended. */
  readonly exited: Promise<Exit>;
  /** moto takes any key; these do for clients that want one. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Ends the server, and with it all buckets. May be repeated. */
  stop(): Promise<void>;
}

/** The server that answers as S3. */
export const moto: PythonTool = {
  name: "moto",
  requirements: resolve(import.meta.dirname, "../../python/moto.txt"),
  runsInPython: true,
};

/**
 * Starts moto, which answers as S3, and waits until it answers. It dies with this process. The first time, its packages
 * are installed with pip (about ten seconds).
 *
 * moto checks no credentials and lets every web page in (`Access-Control-Allow-Origin: *`), to all services of AWS that it
 * imitates, so it listens on a Unix socket, and a listener on 127.0.0.1 in front of it refuses web pages.
 *
 * Rejects when the port is taken, with what to install when Python or pip is missing, and with the end of moto's log when
 * it does not start.
 */
export async function startS3({ port = 0, dir, signal }: S3Options = {}): Promise<S3Server> {
  const packages = await ensurePythonTool(moto, { signal });
  await using opening = new AsyncDisposableStack();
  const kept = <T extends { close(): Promise<void> }>(part: T): T =>
    opening.adopt(part, (one) => one.close());
  const folder = kept(await serverFolder("s3", dir));
  // Its path is short, as those of sockets must be, and only this user reaches what is in it.
  const inner = kept(await serverFolder("moto", undefined));
  const socket = join(inner.path, "socket");
  const { url } = kept(await startGuardedFront(socket, port));
  const child = await spawnTied({
    name: "moto",
    command: "python3",
    args: ["-m", "moto.server", "-H", `unix://${socket}`],
    // Compiled modules are kept in the tool's folder, which halves the next start.
    env: {
      PYTHONPATH: packages,
      PYTHONUNBUFFERED: "1",
      PYTHONDONTWRITEBYTECODE: undefined,
      MOTO_DISABLE_GLOBAL_CORS: "true",
    },
    cwd: folder.path,
    logFile: join(folder.path, "s3.log"),
  });
  await waitUntilReady(child, () => answersOk(urlToHttpOptions(new URL(url))), { signal });
  opening.defer(async () => {
    await child.stop();
  });
  const opened = opening.move();
  return {
    url,
    pid: child.pid,
    exited: child.exited,
    accessKeyId: "local",
    secretAccessKey: "local-secret",
    region: "us-east-1",
    stop: () => opened.disposeAsync(),
  };
}
