import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { Given, LedgerTimes } from "../ledger.ts";
import { blankEntry, type Entry, type LedgerData } from "./ledger-data.ts";

/** A ledger at the instant of one call: what every rule is about. */
export interface Moment extends LedgerTimes {
  readonly data: LedgerData;
  readonly now: number;
  /** By the clock that forgets, which is not `now`. */
  readonly age: Milliseconds;
  /** What one call may still look at: see script-bounds.ts. */
  readonly left: { turns: number; offers: number };
  /** Tells a worker what it was given. */
  readonly tell: (worker: string, given: Given) => void;
}

/** Whether runs that this server may not know of have had the time to announce themselves. */
export const settled = ({ data }: Moment): boolean => data.claimsFrom === undefined;

/** A key's entry; a blank one, kept by nobody yet, where the ledger knows nothing of the key. */
export const find = ({ data }: Moment, key: ObjectKey): Entry => data.entries.get(key) ?? blankEntry(key);

/** Whether a run holds the key now. A lease that ended stays until it is taken back. */
export const held = ({ now }: Moment, entry: Entry): boolean => entry.state === "leased" && entry.at > now;
