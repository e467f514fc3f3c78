import { createHash } from "node:crypto";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The machine of this process: a child on it has our clock. */
export const thisMachine = "this machine";

const folder = join(import.meta.dirname, "../..");
const forNode = `--import=${pathToFileURL(join(folder, "clock/skewed-clock.mjs")).href}`;
const forPython = join(folder, "python/clock");

const minute = 60_000;
/** The clocks of the usual processes, in minutes: each is far from every other one's, and from ours. */
const namedSkews: ReadonlyMap<string, number> = new Map([
  ...[["bridge", 7] as const, ["bucket", -4] as const, ["function", -4] as const],
  ...[["deployer", 11] as const, ["gateway", -6] as const, ["moto", 9] as const],
  ["the API server", -9] as const,
]);
/** The range of all others, in ms. Longer than every lease and timeout, so that a comparison of two clocks goes wrong. */
const [least, most] = [3 * minute, 13 * minute];

/**
 * The difference between a machine's wall clock and ours, in ms: minutes, ahead or behind. It follows from the name alone,
 * so that a test meets the same clocks each time.
 */
export function clockSkewOf(machine: string): number {
  if (machine === thisMachine) return 0;
  const minutes = namedSkews.get(machine);
  if (minutes !== undefined) return minutes * minute;
  const [a = 0, b = 0, sign = 0] = createHash("sha256").update(machine).digest();
  const skew = least + Math.floor(((a * 256 + b) / 65_536) * (most - least));
  return sign < 128 ? skew : -skew;
}

/** Counts processes by name: one that is started again comes up on another machine. */
const started = new Map<string, number>();

function nextMachine(name: string): string {
  const count = started.get(name) ?? 0;
  started.set(name, count + 1);
  return count === 0 ? name : `${name} ${count}`;
}

/**
 * Adds the clock of a child's machine to its environment, where `LOCAL_CLOCKS` is `apart`, as it is in the test suites.
 * Node and Python processes read it; others (Redis, etcd, kube-apiserver) keep our clock.
 *
 * @param machine default: one of its own.
 */
export function withClock(
  environment: EnvironmentVariables,
  name: string,
  machine?: string,
): EnvironmentVariables {
  if (process.env["LOCAL_CLOCKS"] !== "apart") return environment;
  return {
    ...environment,
    NODE_OPTIONS: [environment["NODE_OPTIONS"], forNode].filter(Boolean).join(" "),
    PYTHONPATH: [forPython, environment["PYTHONPATH"]].filter(Boolean).join(delimiter),
    CLOCK_SKEW_MS: String(clockSkewOf(machine ?? nextMachine(name))),
  };
}
