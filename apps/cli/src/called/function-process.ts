import { freePort } from "@drover/local-servers";
import { randomBytes } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../command-error.ts";
import { calledFunctionEnvironment } from "../config.ts";
import { runRestarted } from "../faults/restarted-command.ts";

/** The processes of a function that is called, one after the other. */
export interface FunctionProcess {
  readonly url: URL;
  /** The secret that it verifies. */
  readonly secret: string;
  /** Kills the process. Resolves when the next one, which has no memory of it, answers at the URL. */
  next(): Promise<void>;
  /** Kills the process for good, and removes its files. */
  close(): void;
}

/** How long a process may take until it listens. */
const startTimeout = 60_000;
/** Signals that end this process, and with it the function. */
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a command line with the environment that a deployed function has, and a secret and a port of its own. */
export async function runFunctionProcess(
  command: string,
  identity: { readonly audience: string; readonly uid: string },
): Promise<FunctionProcess> {
  const folder = mkdtempSync(join(tmpdir(), "drover-test-"));
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  writeFileSync(join(folder, "current"), secret, { mode: 0o600 });
  const port = await freePort();
  const output = openSync(join(folder, "output"), "a", 0o600);
  let died = Promise.withResolvers<undefined>();
  const running = runRestarted({
    command: "sh",
    args: ["-c", command],
    env: calledFunctionEnvironment({ ...identity, secrets: folder, port }),
    stdio: ["ignore", output, output],
    // Processes that the shell has started may end after it.
    onDeath: () => portIs("free", port, command).then(() => died.resolve(undefined), died.reject),
  });
  const ended = running.ended.then((code) => {
    const lines = readFileSync(join(folder, "output"), "utf8").trimEnd().split("\n").slice(-20);
    throw new CommandError(
      `The function (${command}) ended with code ${code}. Its last output:\n${lines.join("\n")}`,
    );
  });
  ended.catch(() => undefined);
  const exit = (signal: NodeJS.Signals): void => process.exit(128 + constants.signals[signal]);
  const close = (): void => {
    for (const signal of endings) process.off(signal, exit);
    process.off("exit", close);
    running.terminate("SIGKILL");
    closeSync(output);
    rmSync(folder, { recursive: true, force: true });
  };
  // The function has a process group of its own, which neither Ctrl-C nor the end of the terminal reaches.
  for (const signal of endings) process.on(signal, exit);
  process.on("exit", close);
  let isUsed = false;
  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    secret,
    async next() {
      died = Promise.withResolvers<undefined>();
      if (isUsed) running.kill();
      else died.resolve(undefined);
      await Promise.race([died.promise, ended]);
      const waiting = new AbortController();
      const { signal } = waiting;
      await Promise.race([portIs("taken", port, command, signal), ended]).finally(() => waiting.abort());
      isUsed = true;
    },
    close,
  };
}

/** Resolves when connections to a port are accepted, or no longer. */
async function portIs(
  wanted: "taken" | "free",
  port: number,
  command: string,
  signal?: AbortSignal,
): Promise<void> {
  const end = performance.now() + startTimeout;
  while ((await acceptsConnections(port)) !== (wanted === "taken")) {
    if (performance.now() > end)
      throw new CommandError(
        wanted === "free"
          ? `The function (${command}) was killed, and 127.0.0.1, port ${port}, is still open: it must not leave its process group.`
          : `The function (${command}) has not listened at 127.0.0.1, port ${port}, within ${startTimeout / 1_000} s. Have it ` +
              "listen at DROVER_HTTP_HOST and DROVER_HTTP_PORT.",
      );
    await sleep(20, undefined, { signal });
  }
}

/** True if a process listens on a port of 127.0.0.1. */
export const acceptsConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
