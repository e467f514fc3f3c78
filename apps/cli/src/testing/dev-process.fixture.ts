import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { findRedis, isRunning } from "@drover/local-servers";
import { delimiter, dirname } from "node:path";
import type { Readable } from "node:stream";
import { expect, vi } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { repositoryPath } from "../package/repository-path.ts";
import { plainEnvironment } from "./config.ts";

/** A running program, without a terminal. */
export interface FollowedProcess {
  readonly pid: number;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Closes its output, as a pipe's reader does that ends. */
  readonly closeOutput: () => void;
  /** All output so far. */
  readonly output: () => string;
  /** Resolves when output after the last match of this matches; rejects if it ends before that. */
  next(what: RegExp): Promise<RegExpExecArray>;
}

/** A running `drover dev`. */
export interface DevProcess extends FollowedProcess {
  /** Asks its API server by plain HTTP. */
  ask(path: string): Promise<unknown>;
  /** The path of its kubeconfig, once it is printed. */
  kubeconfig(): string;
  /** The processes that it has started, and those that they have started. */
  descendants(): readonly number[];
}

export interface DevProcessOptions {
  readonly cwd: string;
  /** Path of the command's module. Default: that of the repository. */
  readonly command?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** False: there is no Redis on PATH. */
  readonly hasRedis?: boolean;
  /** A folder for its temporary files. */
  readonly temporary: string;
}

/** How long a step may take on a slow machine. No test waits for this time to pass. */
const outputTimeout = 100_000;

const addressSchema = z.object({
  clusters: z.tuple([z.object({ cluster: z.object({ server: z.string() }) })]),
  users: z.tuple([z.object({ user: z.object({ token: z.string() }) })]),
});

/** Starts `drover dev ...WORDS`. The caller ends it. */
export async function startDevProcess(
  words: readonly string[],
  options: DevProcessOptions,
): Promise<DevProcess> {
  const one = followProcess("drover dev", await spawnDev(words, options));
  const kubeconfig = (): string => /export KUBECONFIG=(\S+)/.exec(one.output())?.[1] ?? "";
  return {
    ...one,
    kubeconfig,
    async ask(path) {
      const { clusters, users } = addressSchema.parse(parse(readFileSync(kubeconfig(), "utf8")));
      const headers = { authorization: `Bearer ${users[0].user.token}` };
      const { origin } = new URL(clusters[0].cluster.server);
      return (await fetch(`${origin}${path}`, { headers })).json();
    },
    descendants: () => descendantsOf(one.pid),
  };
}

/** Starts a module of the repository. The caller ends it. */
export const startModule = (
  module: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): FollowedProcess =>
  followProcess(
    module,
    spawn(process.execPath, [repositoryPath(module), ...args], {
      env: { ...plainEnvironment(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );

/** Collects the output of a program, to wait for parts of it. */
function followProcess(name: string, child: ChildProcessByStdio<null, Readable, Readable>): FollowedProcess {
  let [text, from] = ["", 0];
  const arrivals = new EventTarget();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      arrivals.dispatchEvent(new Event("text"));
    });
  }
  const pid = child.pid ?? 0;
  const ended = once(child, "close").then(() => {
    arrivals.dispatchEvent(new Event("text"));
    return child.exitCode ?? child.signalCode;
  });
  return {
    pid,
    ended,
    kill: (signal) => void child.kill(signal),
    closeOutput: () => void child.stdout.destroy(),
    output: () => text,
    async next(what) {
      for (;;) {
        const found = what.exec(text.slice(from));
        if (found !== null) {
          from += found.index + found[0].length;
          return found;
        }
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(
            `${name} ended, and its output has no ${String(what)} after:\n${text.slice(from)}\nAll:\n${text}`,
          );
        await once(arrivals, "text", { signal: AbortSignal.timeout(outputTimeout) }).catch(
          (cause: unknown) => {
            throw new Error(`No output with ${String(what)} after:\n${text.slice(from)}\nAll:\n${text}`, {
              cause,
            });
          },
        );
      }
    },
  };
}

async function spawnDev(
  words: readonly string[],
  {
    cwd,
    env,
    command = repositoryPath("apps/cli/bin/drover.mjs"),
    hasRedis = true,
    temporary,
  }: DevProcessOptions,
) {
  const plain = plainEnvironment();
  const redis = hasRedis ? [dirname((await findRedis()).command)] : [];
  return spawn(process.execPath, [command, "dev", ...words], {
    cwd,
    env: { ...plain, ...env, TMPDIR: temporary, PATH: [...redis, plain["PATH"]].join(delimiter) },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** By /proc: a watchdog or a shell is one, too. */
export function descendantsOf(pid: number): readonly number[] {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)] as const),
  );
  const found = [pid];
  for (const one of found) for (const [child, parent] of parents) if (parent === one) found.push(child);
  return found.slice(1);
}

function parentOf(pid: string): number | undefined {
  try {
    // "PID (name) STATE PARENT ...", where the name may hold anything.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

/** The addresses at which a process listens, by /proc, as `0100007F:1F90`. */
export function listenersOf(pid: number): readonly string[] {
  const sockets = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return [];
    }
  });
  const listening = "0A";
  return ["tcp", "tcp6"]
    .flatMap((family) => readFileSync(`/proc/${pid}/net/${family}`, "utf8").trim().split("\n").slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(({ 3: state, 9: socket = "" }) => state === listening && sockets.includes(socket))
    .map(({ 1: address = "" }) => address);
}

/** Until none of these processes runs. */
export const waitUntilGone = (pids: readonly number[]): Promise<void> =>
  vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 30_000 });
