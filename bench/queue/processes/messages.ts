import type { ContenderName, Outcome, Where } from "../contenders/contender.ts";

/** How a bench process is started: one argument, as JSON. */
export interface Birth extends Where {
  readonly contender: ContenderName;
}

/** What a run of a bench process does. */
export type Handling =
  /** Does nothing. `report`: reports the number of runs once per turn of the event loop. */
  | { readonly kind: "count"; readonly report: boolean }
  /** Reports its start, then lasts so many ms. */
  | { readonly kind: "announce"; readonly lasts: number }
  /** Reports its start, then hangs until `finish` is called with its outcome. */
  | { readonly kind: "hold" };

/** Keys are numbered: `from` and so on, `distinct` different ones again and again, all below `cycle`. */
export interface Wakes {
  readonly from: number;
  readonly count: number;
  readonly distinct: number;
  readonly cycle: number;
  readonly perCall: number;
  /** ms after which no further call is made. */
  readonly lasts?: number;
}

export interface Mark {
  readonly runs: number;
  /** user + system, µs. */
  readonly cpu: number;
  /** `now()`: one clock for all processes of the machine, ms. */
  readonly at: number;
}

export interface Woken {
  readonly wakes: number;
  readonly began: number;
  readonly ended: number;
  /** µs. */
  readonly cpu: number;
}

/** The part of a V8 CPU profile that is used. Times in µs. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples?: readonly number[] | undefined;
  readonly timeDeltas?: readonly number[] | undefined;
}

/** The calls that a bench process answers. */
export interface Calls {
  /** Wakes keys, and lasts no longer than `lasts`. */
  readonly wake: (wakes: Wakes) => Promise<Woken>;
  readonly work: (concurrency: number, handling: Handling) => Promise<void>;
  /** Ends a run that hangs. */
  readonly finish: (key: string, outcome: Outcome) => Promise<void>;
  /** Runs so far and CPU time so far. */
  readonly mark: () => Promise<Mark>;
  readonly startProfile: () => Promise<void>;
  /** The CPU profile since it was started. */
  readonly stopProfile: () => Promise<CpuProfile>;
  /** Stops working and lets go of the server; it may be asked to work again. Answers all its runs so far. */
  readonly stop: () => Promise<Mark>;
}

export interface Call {
  readonly id: number;
  readonly name: keyof Calls;
  readonly args: readonly unknown[];
}

/** The start or the end of a run. */
export interface RunEvent {
  readonly key: string;
  readonly at: number;
}

/** The reports of a bench process. */
export interface Reports {
  readonly ready: [];
  readonly answer: [id: number, value: unknown];
  /** The number of runs since the last such report. */
  readonly ran: [runs: number];
  readonly started: [RunEvent];
  readonly ended: [RunEvent];
}
export type Report = { readonly [Name in keyof Reports]: readonly [Name, ...Reports[Name]] }[keyof Reports];
