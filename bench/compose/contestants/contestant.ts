import type { Key } from "../../bridge/cluster/numbered-kind.ts";
import type { AtWork as Processes } from "../../peers/peers/peer.ts";
import type { Stage } from "../stage.ts";

/** A compared implementation. */
export interface Contestant {
  readonly name: string;
  /** Builds what is missing. Rejects, with the reason, if it cannot be built here. */
  prepare(log: (line: string) => void): Promise<(ground: Ground) => Promise<AtWork>>;
}

export interface Ground {
  readonly stage: Stage;
  /** For logs. */
  readonly folder: string;
  /** Reconciles at once. */
  readonly workers: number;
}

/** A contestant at work. */
export interface AtWork extends Pick<Processes, "pids" | "died"> {
  /** Gets a line each time that the author's code has returned the children of a parent. */
  readonly runsFile: string;
  /** Has every parent reconciled once more. */
  resync(keys: readonly Key[]): Promise<unknown>;
  stop(): Promise<unknown>;
}
