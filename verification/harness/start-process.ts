import { spawnTied, type TiedProcess, type TiedProcessOptions } from "@drover/local-servers";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { root } from "./repository-files.ts";

/** Environment that keeps compiled modules between starts. */
export const compiled = { NODE_COMPILE_CACHE: `${root}.cache/compiled` };

export interface ProcessOptions extends Pick<
  TiedProcessOptions,
  "name" | "logFile" | "env" | "machine" | "onLine"
> {
  /** A module: a path below the root of the repository, or an absolute one. */
  readonly main: string;
  readonly args?: readonly string[];
  /** A part of the line that is logged when the process is ready. Default: it is not waited for. */
  readonly awaited?: string | RegExp;
  /** How many such lines there are. */
  readonly times?: number;
  /** Called when the process exists, before it is ready. */
  readonly onSpawned?: (child: TiedProcess) => void;
}

/** A process that is ready. */
export interface Started extends TiedProcess {
  /** Where it serves `/healthz`, `/readyz` and `/metrics`. */
  readonly url: string;
  /** The first group of the pattern that was awaited. */
  readonly captured: string;
}

/**
 * Starts a module of this repository in a process of its own. The settings of the tests themselves are not inherited.
 *
 * @throws with its log if it ends before it is ready
 */
export async function startProcess(options: ProcessOptions): Promise<Started> {
  const { main, args = [], awaited = "", times = 1, onSpawned, ...others } = options;
  const ready = Promise.withResolvers<string>();
  let [url, left] = ["", times];
  const child = await spawnTied({
    ...others,
    command: process.execPath,
    args: [resolve(root, main), ...args],
    env: { ...compiled, DROVER_TEST_CLUSTER: undefined, DROVER_KUBECTL: undefined, ...others.env },
    onLine(line, stream) {
      url = /"url":"(http:[^"]+)"/.exec(line)?.[1] ?? url;
      const isFound = typeof awaited === "string" ? line.includes(awaited) : awaited.test(line);
      if (isFound && --left === 0)
        ready.resolve(typeof awaited === "string" ? "" : (awaited.exec(line)?.[1] ?? ""));
      others.onLine?.(line, stream);
    },
  });
  onSpawned?.(child);
  if (awaited === "") return { ...child, url, captured: "" };
  const died = child.exited.then(() => {
    throw new Error(`${child.name} ended before it was ready:\n${readFileSync(child.logFile, "utf8")}`);
  });
  died.catch(() => undefined);
  const captured = await Promise.race([ready.promise, died]);
  return { ...child, url, captured };
}

/** Ends a process as a crash does, with SIGKILL; resolves when it is gone. */
export async function crash(child: Pick<TiedProcess, "kill" | "exited">): Promise<void> {
  child.kill("SIGKILL");
  await child.exited;
}
