import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { finished, type Readable, type Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { withClock } from "./clock-skew.ts";

export interface TiedProcessOptions {
  command: string;
  args?: readonly string[];
  /** Laid over this process's environment; `undefined` takes a variable away. */
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** Its clock, where the test suites set clocks apart: processes of one machine share one. Default: its own. */
  machine?: string;
  /** Its name in error messages. */
  name: string;
  /** Gets stdout and stderr, appended; its folder is made. */
  logFile: string;
  /**
   * Called for each line of output. The output then passes through this process on its way to the log, so a child
   * that writes a lot waits while this process is busy.
   */
  onLine?: (line: string, stream: "stdout" | "stderr") => void;
  /**
   * True (the default) gives the child a process group of its own: Ctrl-C in the terminal reaches only us, and
   * whatever the child leaves behind in its group is killed with it. False leaves it in ours.
   */
  detached?: boolean;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A child process that cannot outlive this one. */
export interface TiedProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the child is gone, its group is empty, its log is written and its watchdog has ended. Never rejects. */
  readonly exited: Promise<Exit>;
  /** SIGTERM (and SIGCONT, for one that was paused), after `graceMs` (5,000) SIGKILL. Resolves as `exited`; may be repeated. */
  stop(options?: { graceMs?: number }): Promise<Exit>;
  /** Sends the signal to the child alone. False when it is already gone. */
  kill(signal: NodeJS.Signals): boolean;
}

// The child waits for a line on descriptor 3 before it becomes the command (same pid). We write it once the watchdog runs.
// If we die in between, the descriptor closes and the child exits, so it is tied at every moment.
const GATE = 'read -r go <&3 || exit 125; exec 3<&-; exec "$@"';

// The watchdog holds nothing but the read end of a pipe. We write a line when the child has ended; if instead the pipe
// closes, this process is gone, for whatever reason. It has its own session, so no signal to our group reaches it.
const WATCHDOG = 'trap "" HUP INT QUIT TERM; read -r done || kill -s KILL -- "$1" 2>/dev/null; :';

// How long the output of a child that has ended may be kept open by a grandchild that left its group.
const HELD_OPEN_MS = 1000;

/**
 * Starts a child process that dies with this one, even when this one is killed with SIGKILL.
 * Needs `/bin/sh`. A command that does not exist shows as exit code 127 with a line in the log.
 */
export async function spawnTied(options: TiedProcessOptions): Promise<TiedProcess> {
  const detached = options.detached ?? true;
  const output = await openOutput(options);
  const child = spawn("/bin/sh", ["-c", GATE, "sh", options.command, ...(options.args ?? [])], {
    cwd: options.cwd,
    env: withClock({ ...process.env, ...options.env }, options.name, options.machine),
    detached,
    stdio: output.stdio,
  });
  const gone = Promise.withResolvers<undefined>();
  const silent = Promise.withResolvers<undefined>();
  child.once("exit", () => gone.resolve(undefined)).once("close", () => silent.resolve(undefined));
  const pid = await pidOf(child, options).finally(output.handedOver);
  const target = detached ? -pid : pid;
  const watchdog = await startWatchdog(target);
  output.read(child);
  openGate(child);

  const exited = gone.promise.then(async (): Promise<Exit> => {
    if (detached) sendSignal(target, "SIGKILL");
    await Promise.race([silent.promise, delay(HELD_OPEN_MS, undefined, { ref: false })]);
    await Promise.all([output.end(), watchdog.dismiss()]);
    return { code: child.exitCode, signal: child.signalCode };
  });
  return tiedProcess(options, child, pid, exited);
}

function tiedProcess(
  { name, logFile }: TiedProcessOptions,
  child: ChildProcess,
  pid: number,
  exited: Promise<Exit>,
): TiedProcess {
  const running = () => child.exitCode === null && child.signalCode === null;
  const kill = (signal: NodeJS.Signals) => running() && sendSignal(pid, signal);
  const stop = async ({ graceMs = 5000 } = {}) => {
    kill("SIGTERM");
    kill("SIGCONT");
    const ended = new AbortController();
    const grace = delay(graceMs, undefined, { signal: ended.signal }).then(
      () => kill("SIGKILL"),
      () => false,
    );
    const exit = await exited;
    ended.abort();
    await grace;
    return exit;
  };
  return { name, pid, logFile, exited, stop, kill };
}

/** Kills processes as a crash does, and waits for their ends. */
export async function killAll(children: readonly Pick<TiedProcess, "kill" | "exited">[]): Promise<void> {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map(({ exited }) => exited));
}

/** False when there is no such process (group). */
function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

async function startWatchdog(target: number): Promise<{ dismiss(): Promise<void> }> {
  const watchdog = spawn("/bin/sh", ["-c", WATCHDOG, "sh", String(target)], {
    detached: true,
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  const gone = once(watchdog, "exit");
  await once(watchdog, "spawn").catch((error: unknown) => {
    sendSignal(target, "SIGKILL");
    throw error;
  });
  const dismiss = async () => {
    watchdog.stdin.on("error", () => undefined).end("done\n");
    await gone;
  };
  return { dismiss };
}

interface Output {
  readonly stdio: StdioOptions;
  /** Closes what only the child needs. */
  readonly handedOver: () => Promise<void>;
  read(child: ChildProcess): void;
  end(): Promise<void>;
}

async function openOutput({ logFile, onLine }: TiedProcessOptions): Promise<Output> {
  await mkdir(dirname(logFile), { recursive: true });
  if (onLine === undefined) {
    const file = await open(logFile, "a");
    return {
      stdio: ["ignore", file.fd, file.fd, "pipe"],
      handedOver: () => file.close(),
      read: () => undefined,
      end: () => Promise.resolve(),
    };
  }
  const log = createWriteStream(logFile, { flags: "a" });
  await once(log, "open");
  return {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    handedOver: () => Promise.resolve(),
    read: (child) => {
      pass(child.stdout, log, (line) => onLine(line, "stdout"));
      pass(child.stderr, log, (line) => onLine(line, "stderr"));
    },
    end: () => closeLog(log),
  };
}

function pass(from: Readable | null, log: WriteStream, onLine: (line: string) => void): void {
  if (from === null) return;
  from.pipe(log, { end: false });
  createInterface({ input: from, crlfDelay: Infinity }).on("line", onLine);
}

async function closeLog(log: WriteStream): Promise<void> {
  const closed = new Promise<void>((resolve) => finished(log, () => resolve()));
  log.end();
  await closed;
}

function openGate(child: ChildProcess): void {
  const gate = child.stdio[3];
  if (isWritable(gate)) gate.on("error", () => undefined).end("go\n");
}

function isWritable(stream: Readable | Writable | null | undefined): stream is Writable {
  return stream !== null && stream !== undefined && "end" in stream;
}

async function pidOf(child: ChildProcess, { name, cwd }: TiedProcessOptions): Promise<number> {
  try {
    await once(child, "spawn");
  } catch (cause) {
    throw new Error(`${name} cannot be started: is there a /bin/sh, and a folder ${cwd ?? "."}?`, { cause });
  }
  if (child.pid === undefined) throw new Error(`${name} started without a process id.`);
  return child.pid;
}
