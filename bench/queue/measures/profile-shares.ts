import type { CpuProfile } from "../processes/messages.ts";

/** Where a process spent its time, µs. */
export interface ProfileShares {
  /** By package, and by subject within Node; the most expensive first. */
  readonly owners: readonly Share[];
  /** By function; the most expensive first. */
  readonly functions: readonly Share[];
}

export interface Share {
  readonly name: string;
  /** Time in its own code, not in what it called. */
  readonly time: number;
}

/** What Node's own modules are about. The first that matches. */
const subjects: readonly (readonly [RegExp, string])[] = [
  [/net|stream|tty|dgram|buffer/, "node: sockets and streams"],
  [/timers/, "node: timers"],
  [/abort_controller|event_target/, "node: abort signals"],
  [/crypto/, "node: crypto"],
  [/events/, "node: events"],
  [/async|process|promise/, "node: promises, ticks, async context"],
];

/** Shares out `cpu` µs among the samples of a profile, by the owner of the code. */
export function profileShares(profile: CpuProfile, cpu: number): ProfileShares {
  const owners = new Map<string, number>();
  const functions = new Map<string, number>();
  let sampled = 0;
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  profile.samples?.forEach((id, i) => {
    const frame = nodes.get(id);
    const time = profile.timeDeltas?.[i] ?? 0;
    // Starting the profiler is no run's cost.
    if (frame === undefined || frame.functionName === "(idle)" || frame.url === "node:inspector") return;
    sampled += time;
    add(owners, ownerOf(frame), time);
    add(functions, `${frame.functionName || "(anonymous)"} (${placeOf(frame)})`, time);
  });
  const scaled = (sums: Map<string, number>): Share[] =>
    [...sums].map(([name, time]) => ({ name, time: (time * cpu) / sampled })).sort((a, b) => b.time - a.time);
  return { owners: scaled(owners), functions: scaled(functions) };
}

type Frame = CpuProfile["nodes"][number]["callFrame"];

/** `(garbage collector)`, a package such as `ioredis`, or a subject of Node's. */
export function ownerOf({ functionName, url }: Frame): string {
  if (functionName === "(garbage collector)") return functionName;
  const installed = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  if (installed !== undefined) return installed;
  if (url.includes("/bench/")) return "this bench";
  const ours = /\/packages\/([^/]+)\//.exec(url)?.[1];
  if (ours !== undefined) return `@drover/${ours}`;
  if (!url.startsWith("node:")) return "native code (system calls, V8)";
  return subjects.find(([pattern]) => pattern.test(url))?.[1] ?? "node: other";
}

function placeOf(frame: Frame): string {
  const file = frame.url.split("/").slice(-1)[0] ?? "";
  const node = frame.url.startsWith("node:");
  return file === "" ? "native" : node ? frame.url : `${ownerOf(frame)}, ${file}:${frame.lineNumber + 1}`;
}

const add = (sums: Map<string, number>, name: string, time: number): void =>
  void sums.set(name, (sums.get(name) ?? 0) + time);
