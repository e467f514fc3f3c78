/** Limits on the bytes held at once. */
export interface BudgetLimits {
  /** For all peers together. */
  readonly total: number;
  /** For one peer. At least the maximum size of one body. */
  readonly peer: number;
  /** For one group, such as a hook. At least the maximum size of one body. */
  readonly group: number;
}

/** Bytes held for one sender. */
export interface HeldBytes {
  /** Adds bytes. If that exceeds a limit, drops the oldest holdings, possibly this one. */
  grow(bytes: number): void;
  /** Ends the holding. Further calls have no effect. */
  release(): void;
}

export interface HoldOptions {
  readonly peer: string;
  readonly group?: string;
  readonly bytes: number;
  /** Called once if the holding is dropped to make room. It is already released then. */
  readonly onDropped: () => void;
}

/**
 * Counts the bytes that are held for senders. Bytes that arrive are never refused; the oldest holdings are dropped
 * instead. A peer over its own limit loses its oldest ones. If all peers together exceed a limit, or those of a group,
 * the peer that holds the most loses its oldest ones; the growing holding does not count there. So a flood drops its
 * own holdings. Holdings of a peer with fewer bytes stay, and so does a large one that arrives during a flood of small
 * ones.
 */
export interface ByteBudget {
  hold(options: HoldOptions): HeldBytes;
  /** Bytes held now. */
  held(): number;
}

interface HeldEntry {
  readonly peer: string;
  readonly group: string | undefined;
  bytes: number;
  readonly drop: () => void;
}

export function byteBudget(limits: BudgetLimits): ByteBudget {
  const all = peerHoldings();
  const groups = new Map<string, PeerHoldings>();
  const sharesOf = ({ group }: HeldEntry): readonly PeerHoldings[] => {
    if (group === undefined) return [all];
    const own = groups.get(group) ?? peerHoldings();
    groups.set(group, own);
    return [all, own];
  };
  const remove = (one: HeldEntry): void => {
    for (const each of sharesOf(one)) each.remove(one);
    if (one.group !== undefined && groups.get(one.group)?.isEmpty()) groups.delete(one.group);
  };
  const makeRoom = (growing: HeldEntry): void => {
    const { peer, group } = growing;
    dropWhile(
      () => all.bytesOf(peer) > limits.peer,
      () => all.oldestOf(peer),
    );
    const own = group === undefined ? undefined : groups.get(group);
    if (own !== undefined) dropFromLargest(growing, own, limits.group);
    dropFromLargest(growing, all, limits.total);
  };
  return {
    hold({ peer, group, bytes, onDropped }) {
      let isHeld = true;
      const release = (): void => {
        if (isHeld) remove(one);
        isHeld = false;
      };
      const drop = (): void => {
        release();
        onDropped();
      };
      const one: HeldEntry = { peer, group, bytes, drop };
      for (const each of sharesOf(one)) each.add(one);
      makeRoom(one);
      return {
        grow(more) {
          if (!isHeld) return;
          for (const each of sharesOf(one)) each.grow(one, more);
          one.bytes += more;
          makeRoom(one);
        },
        release,
      };
    },
    held: () => all.bytes(),
  };
}

/** Drops the oldest holdings of the peer that holds the most, not counting the growing holding. */
function dropFromLargest(growing: HeldEntry, from: PeerHoldings, most: number): void {
  dropWhile(
    () => from.bytes() > most,
    () => from.oldestOf(from.largestWithout(growing)),
  );
}

/** Also ends when nothing is left to drop. */
function dropWhile(isTooMuch: () => boolean, next: () => HeldEntry | undefined): void {
  while (isTooMuch()) {
    const one = next();
    if (one === undefined) return;
    one.drop();
  }
}

/** Holdings by peer, oldest first within each peer. */
interface PeerHoldings {
  add(one: HeldEntry): void;
  remove(one: HeldEntry): void;
  grow(one: HeldEntry, bytes: number): void;
  isEmpty(): boolean;
  bytes(): number;
  bytesOf(peer: string): number;
  oldestOf(peer: string): HeldEntry | undefined;
  /** The peer that holds the most, not counting this holding; its own peer if no other peer holds any. */
  largestWithout(one: HeldEntry): string;
}

function peerHoldings(): PeerHoldings {
  const peers = new Map<string, { bytes: number; readonly holdings: Set<HeldEntry> }>();
  let total = 0;
  return {
    add(one) {
      const peer = peers.get(one.peer) ?? { bytes: 0, holdings: new Set() };
      peers.set(one.peer, peer);
      peer.holdings.add(one);
      peer.bytes += one.bytes;
      total += one.bytes;
    },
    remove(one) {
      const peer = peers.get(one.peer);
      if (peer === undefined || !peer.holdings.delete(one)) return;
      peer.bytes -= one.bytes;
      total -= one.bytes;
      if (peer.holdings.size === 0) peers.delete(one.peer);
    },
    grow(one, bytes) {
      const peer = peers.get(one.peer);
      if (peer === undefined || !peer.holdings.has(one)) return;
      peer.bytes += bytes;
      total += bytes;
    },
    isEmpty: () => peers.size === 0,
    bytes: () => total,
    bytesOf: (peer) => peers.get(peer)?.bytes ?? 0,
    oldestOf(peer) {
      const [oldest] = peers.get(peer)?.holdings ?? [];
      return oldest;
    },
    largestWithout(one) {
      let [found, most] = [one.peer, 0];
      for (const [peer, { bytes, holdings }] of peers) {
        const beside = holdings.has(one) ? bytes - one.bytes : bytes;
        if (beside > most) [found, most] = [peer, beside];
      }
      return found;
    },
  };
}
