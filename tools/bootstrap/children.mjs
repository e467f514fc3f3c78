// Child processes, and signals on their way to them.
//
// Each child leads a process group of its own. Ctrl-C in a terminal would otherwise reach it from the terminal and
// again from us; and we get it from the terminal and again from npm, so what comes twice in a moment is passed on once.
// A watchdog ends the child when we are killed with SIGKILL. And npm runs us in a shell: a signal to npm alone ends that
// shell and never comes here, so the end of our parent counts as SIGTERM.
import { spawn } from "node:child_process";
import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
/** Milliseconds within which the same signal again is the same keypress. */
const ONE_KEYPRESS = 1000;

const running = new Set();
let last = { signal: "", at: -Infinity };
let stoppedBy;

const parent = process.ppid;
/** Milliseconds between two looks whether the shell that npm runs us in is still there. */
const LOOK = 250;

for (const signal of SIGNALS) process.on(signal, () => pass(signal));
if (process.env["npm_lifecycle_event"] !== undefined) {
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    if (stoppedBy === undefined) pass("SIGTERM");
  }, LOOK);
  look.unref();
}

/** The exit code after a signal to stop; undefined if there was none. */
export const stopped = () => (stoppedBy === undefined ? undefined : codeOf(stoppedBy));

/**
 * Runs a command until it ends, and answers its exit code (128 + the signal's number when a signal ended it).
 * Of its output, what `collect` names is not shown but answered.
 */
export async function run(command, args, { cwd, env, collect = [] }) {
  if (stoppedBy !== undefined) throw new Error(`Stopped by ${stoppedBy}`);
  const stdio = [
    "ignore",
    ...["stdout", "stderr"].map((name) => (collect.includes(name) ? "pipe" : "inherit")),
  ];
  const child = spawn(command, args, { cwd, env, stdio, detached: true });
  const collected = [];
  child.stdout?.on("data", (chunk) => collected.push(chunk));
  child.stderr?.on("data", (chunk) => collected.push(chunk));
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      killGroup(child.pid);
      child.once("close", () => resolve(code ?? codeOf(signal)));
    });
  });
  running.add(child);
  const dismiss = child.pid === undefined ? () => undefined : watch(child.pid);
  try {
    const code = await ended;
    return { code, output: Buffer.concat(collected).toString() };
  } finally {
    running.delete(child);
    dismiss();
  }
}

function pass(signal) {
  const now = performance.now();
  const repeated = signal === last.signal && now - last.at < ONE_KEYPRESS;
  last = { signal, at: now };
  if (repeated) return;
  stoppedBy = signal;
  // Between two children, no process can get the signal.
  if (running.size === 0) process.exit(codeOf(signal));
  for (const child of running) child.kill(signal);
}

/** Whatever a child has left behind in its group. */
function killGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is empty.
  }
}

const codeOf = (signal) => 128 + constants.signals[signal];

/** Answers the function that calls the watchdog off. */
function watch(pid) {
  const program = 'trap "" HUP INT QUIT TERM; read -r done || kill -s TERM -- "-$1" 2>/dev/null';
  const watchdog = spawn("/bin/sh", ["-c", program, "sh", String(pid)], {
    detached: true,
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.on("error", () => undefined);
  watchdog.stdin.on("error", () => undefined);
  watchdog.unref();
  return () => watchdog.stdin.end("done\n");
}
