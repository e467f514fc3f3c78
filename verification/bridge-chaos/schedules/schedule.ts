import { z } from "zod";

const span = z.number().int().min(0).max(60_000);
const few = z.number().int().min(0).max(200);

/** Instead of an answer to a watch that is asked for. What runs is ended before. */
const watchFaults = [
  "watch-410",
  "watch-429",
  "watch-500",
  "watch-503",
  "watch-reset",
  "watch-html",
  "watch-garbage",
  "watch-closes", // 200, and ends at once
  "watch-hang", // is taken, and never answered
] as const;
/** Instead of an answer to a list, or inside it; of one that is streamed, at its end. What runs is ended by a 410 before. */
const listFaults = [
  "list-410", // on a `continue`
  "list-429",
  "list-500",
  "list-503",
  "list-reset",
  "list-html",
  "list-garbage",
  "list-truncated",
  "list-no-metadata",
  "list-no-uid",
  "list-endless", // a `continue` on every page
  "list-hang",
] as const;
/** In place of an answer to a watch or a list. Running watches are ended before. */
const bothFaults = ["all-401"] as const;
/** At an event of a watch that runs. */
const frameFaults = [
  "frame-410",
  "frame-error-500",
  "frame-error-no-code",
  "frame-cut", // half of it, and a reset
  "frame-truncated", // half of it, and an orderly end
  "frame-garbage", // instead of it, and on it goes
  "frame-no-uid", // in it, and on it goes
  "frame-huge", // it is 2 MiB large
  "frame-repeat", // it comes twice
  "frame-replay", // after it, what came before comes again
  "frame-silent", // from it on, nothing comes, and nothing ends
  "frame-swallow", // it never comes
] as const;

const during = {
  /** Changes that are made while it lasts. */
  changes: few,
  /** Go on with the next step before this one is over. */
  beside: z.boolean().optional(),
};

const requestFault = z.object({
  do: z.enum([...watchFaults, ...listFaults, ...bothFaults]),
  /** Lasts until it has met so many requests, and for so long. */
  times: z.number().int().min(1).max(60),
  for: span,
  /** The header as it is sent; of a `date`, so many seconds from then on. */
  retryAfter: z.union([z.string(), z.object({ date: z.number().int() })]).optional(),
  /** For an endless list: it returns to its first page after this many pages; 0: never. */
  cycle: z.number().int().optional(),
  /** How a watch that runs ends, so that there is a request to meet. */
  ending: z.enum(["end", "reset"]),
  ...during,
});
const frameFault = z.object({
  do: z.enum(frameFaults),
  /** The n-th event from now on is the first that it meets, and then so many of them. */
  frame: z.number().int().min(1).max(60),
  times: z.number().int().min(1).max(20),
  ...during,
});

const step = z.discriminatedUnion("do", [
  /** Start the bridge: the first time, or after a kill. */
  z.object({ do: z.literal("bridge-start") }),
  /** Make changes, all of them before the next step. */
  z.object({ do: z.literal("changes"), changes: few }),
  /** Wait until everything was seen, for a moment at most. */
  z.object({ do: z.literal("settle") }),
  /** The address of the API server refuses connections. */
  z.object({ do: z.literal("refuse"), for: span, ...during }),
  /**
   * SIGKILL so long after the n-th event from now on, or the n-th page of a listing that a 410 asks for. A new one is
   * started after `down` and `meanwhile` changes.
   */
  z.object({
    do: z.literal("bridge-kill"),
    at: z.enum(["event", "page"]),
    nth: few,
    after: span,
    down: span,
    meanwhile: few,
    ...during,
  }),
  requestFault,
  frameFault,
]);

/** Everything that a run of the harness does, but for the machine's timing. */
export const scheduleSchema = z.object({
  /** Objects there may be at once. */
  objects: z.number().int().min(1).max(200),
  /** How many of them there are before the bridge is. */
  initial: few,
  /** Which changes are made. */
  load: z.number().int(),
  /** Between one change and the next. */
  pace: span,
  /** How long a run lasts after it has read. */
  linger: span,
  /** Objects on a page of a list; 0 leaves it to the bridge. */
  page: few,
  /** False: the server refuses to stream lists, as older ones do. */
  watchList: z.boolean(),
  /** Frames come in pieces of so many bytes; 0: whole. */
  pieces: few,
  steps: z.array(step),
  /** Objects refer to others, whose changes concern them. */
  references: z.boolean().default(false),
});

export type Schedule = z.infer<typeof scheduleSchema>;
export type Step = z.infer<typeof step>;
export type RequestFault = z.infer<typeof requestFault>;
export type FrameFault = z.infer<typeof frameFault>;
export type RequestFaultKind = RequestFault["do"];
export type FrameFaultKind = FrameFault["do"];
export type FaultKind = RequestFaultKind | FrameFaultKind | "refuse" | "bridge-kill";

/** The bridge notices these only by a minute of silence. */
export const silentFaults: readonly FaultKind[] = ["watch-hang", "list-hang", "frame-silent"];
/** The bridge notices this only by comparing with a list. */
export const swallowing: FaultKind = "frame-swallow";
export const faultKinds: readonly FaultKind[] = [
  ...[...watchFaults, ...listFaults, ...bothFaults, ...frameFaults],
  "refuse",
  "bridge-kill",
];

const kindsOf = (kinds: readonly string[]) => {
  const names = new Set(kinds);
  return (kind: string): boolean => names.has(kind);
};
export const isWatchFault = kindsOf([...watchFaults, ...bothFaults]);
export const isListFault = kindsOf([...listFaults, ...bothFaults]);
const isRequestFaultKind = kindsOf([...watchFaults, ...listFaults, ...bothFaults]);
const isFrameKind = kindsOf(frameFaults);
export const isFrameFaultKind = (kind: FaultKind): kind is FrameFaultKind => isFrameKind(kind);
export const isRequestFault = (step: Step): step is RequestFault => isRequestFaultKind(step.do);
export const isFrameFault = (step: Step): step is FrameFault => isFrameKind(step.do);
