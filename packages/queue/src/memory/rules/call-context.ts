import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { LeasedKey, LedgerDurations } from "../../ledger/ledger.ts";
import { blankEntry, type KeyEntry, type LedgerData } from "./ledger-data.ts";

/** A ledger at the instant of one call: the input of every rule. */
export interface CallContext extends LedgerDurations {
  readonly data: LedgerData;
  readonly now: number;
  /** Time of the clock for expiry, which is not `now`. */
  readonly expiryTime: Milliseconds;
  /** Checks that are left to this call: see script-bounds.ts. */
  readonly budget: { flows: number; slots: number };
  /** Notifies a worker of a key that was assigned to one of its slots. */
  readonly notify: (worker: string, assigned: LeasedKey) => void;
}

/** True if the recovery window is over: runs that may be missing from the data had the time to announce themselves. */
export const hasRecovered = ({ data }: CallContext): boolean => data.claimsFrom === undefined;

/** The entry of a key. If the ledger has none: a blank one, which is not stored yet. */
export const entryOf = ({ data }: CallContext, key: ObjectKey): KeyEntry =>
  data.entries.get(key) ?? blankEntry(key);

/** True if a run holds the key now. A lease that has ended stays until it is taken back. */
export const isLeaseHeld = ({ now }: CallContext, entry: KeyEntry): boolean =>
  entry.state === "leased" && entry.at > now;
