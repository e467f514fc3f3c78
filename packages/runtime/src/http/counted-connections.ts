import type { Socket } from "node:net";
import type { ByteBudget, HeldBytes } from "./byte-budget.ts";
import { BodyRefusedError } from "./read-incoming-body.ts";

/** A connection that is counted until it is closed. */
export interface CountedConnection {
  /** Fires with a BodyRefusedError when the connection is closed. */
  readonly closed: AbortSignal;
  /** Holds bytes for its peer, in a group. If they are dropped, the connection is closed. */
  hold(group: string, bytes: number): HeldBytes;
  /** Marks its sender as verified. The connection itself cannot be dropped until the next `idle`. */
  verified(): void;
  /** Reports that a request has ended. The connection's age starts from zero again. */
  idle(): void;
  close(why: BodyRefusedError["why"]): void;
}

export interface CountedConnections {
  of(socket: Socket): CountedConnection;
}

/**
 * The connections of a listener. Each counts against the limits for unverified senders until its first verified
 * message, and against those for verified senders after it.
 * @param each bytes counted for a connection itself.
 */
export function countedConnections(
  budgets: { readonly unverified: ByteBudget; readonly verified: ByteBudget },
  each: number,
): CountedConnections {
  const known = new WeakMap<Socket, CountedConnection>();
  const count = (socket: Socket): CountedConnection => {
    const peer = peerOf(socket.remoteAddress);
    const over = new AbortController();
    let budget = budgets.unverified;
    let own: HeldBytes | undefined;
    const onDropped = (): void => close("displaced");
    const close = (why: BodyRefusedError["why"]): void => {
      own?.release();
      over.abort(new BodyRefusedError(why));
      socket.destroy();
    };
    const idle = (): void => {
      own?.release();
      if (!over.signal.aborted) own = budget.hold({ peer, bytes: each, onDropped });
    };
    socket.once("close", () => close("cut off"));
    if (socket.destroyed) close("cut off");
    idle();
    return {
      closed: over.signal,
      close,
      idle,
      hold: (group, bytes) => budget.hold({ peer, group, bytes: over.signal.aborted ? 0 : bytes, onDropped }),
      verified() {
        budget = budgets.verified;
        own?.release();
      },
    };
  };
  return {
    of(socket) {
      const before = known.get(socket);
      if (before !== undefined) return before;
      const counted = count(socket);
      known.set(socket, counted);
      return counted;
    },
  };
}

/**
 * The peer of an address: the IPv4 address, or the IPv6 /64, because a provider assigns at least a /64 to one customer.
 */
export function peerOf(address = ""): string {
  const [plain = ""] = address.split("%");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => "0");
  return `${[...first, ...zeros, ...last].slice(0, 4).join(":")}::/64`;
}
