import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { Given, LedgerTimes } from "../ledger.ts";
import { blankEntry, type Entry, type LedgerData } from "./ledger-data.ts";

/** A ledger at the instant of one call: the input of every rule. */
export interface Moment extends LedgerTimes {
  readonly data: LedgerData;
  readonly now: number;
  /** Time of the clock for expiry, which is not `now`. */
  readonly age: Milliseconds;
  /** Checks that are left to this call: see script-bounds.ts. */
  readonly left: { turns: number; offers: number };
  /** Notifies a worker of a key that was assigned to one of its slots. */
  readonly tell: (worker: string, given: Given) => void;
}

/** True if the recovery window is over: runs that may be missing from the data had the time to announce themselves. */
export const settled = ({ data }: Moment): boolean => data.claimsFrom === undefined;

/** The entry of a key. If the ledger has none: a blank one, which is not stored yet. */
export const find = ({ data }: Moment, key: ObjectKey): Entry => data.entries.get(key) ?? blankEntry(key);

/** True if a run holds the key now. A lease that has ended stays until it is taken back. */
export const held = ({ now }: Moment, entry: Entry): boolean => entry.state === "leased" && entry.at > now;
