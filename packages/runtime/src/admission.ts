import type { Milliseconds } from "@drover/controller";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type BudgetLimits, byteBudget, type ByteBudget, type Holding } from "./byte-budget.ts";

const MiB = 2 ** 20;

export interface AdmissionLimits {
  /** For connections that have not shown yet that they may send. */
  readonly strangers: BudgetLimits;
  /** For connections that have, apart from the others: no stranger drops these. */
  readonly verified: BudgetLimits;
  /** Bytes that a connection counts for itself: headers, and the part of a body that nothing has read yet. */
  readonly connection: number;
  /** Bytes per second that a body must have come with, on average, once `patience` is over. */
  readonly leastRate: number;
  readonly patience: Milliseconds;
}

export const usualAdmission: AdmissionLimits = {
  strangers: { total: 64 * MiB, peer: 16 * MiB, group: 16 * MiB },
  verified: { total: 128 * MiB, peer: 64 * MiB, group: 64 * MiB },
  connection: 32 * 1_024,
  leastRate: 1_024,
  patience: 2_000,
};

/** A body that is not taken, and why. */
export class BodyRefusedError extends Error {
  override readonly name = "BodyRefusedError";
  readonly why: "too large" | "cut off" | "displaced" | "too slow";
  constructor(why: BodyRefusedError["why"]) {
    super(`The body is ${why}.`);
    this.why = why;
  }
}

/** The body of a request. `release` must be called at the end, whatever comes. */
export interface IncomingBody {
  /**
   * The whole body, counted as its bytes arrive.
   * @throws BodyRefusedError; the connection is closed, but for a body that is too large
   */
  read(): Promise<Uint8Array>;
  /** Fires when the connection is closed: nothing must hold the body any longer. */
  readonly signal: AbortSignal;
  /** The sender has shown that it may send. It is counted with such senders only from now on. */
  verified(): void;
  release(): void;
}

/**
 * Bounds the memory that senders take before their signature is verified. A listener that strangers reach has one, and
 * counts bytes and not requests: see `ByteBudget` for what is dropped. Dropping closes the connection.
 */
export interface Admission {
  /** Counts a connection until it is closed. */
  connected(socket: Socket): void;
  /** @param group bodies that share a bound, such as those for one hook. */
  body(incoming: IncomingMessage, options: { readonly most: number; readonly group: string }): IncomingBody;
  /** Closes connections whose bodies come slower than the least rate. Called every second or so. */
  endSlow(): void;
  /** Bytes that are held now for strangers, and for senders that were verified. */
  held(): { readonly strangers: number; readonly verified: number };
}

interface Connection {
  readonly peer: string;
  readonly closed: AbortController;
  isVerified: boolean;
  /** Undefined while a verified request is answered: then the connection is not dropped. */
  own: Holding | undefined;
}

/** @param clock one that never goes back. */
export function openAdmission(
  clock: () => Milliseconds,
  { strangers, verified, connection: perConnection, leastRate, patience }: AdmissionLimits = usualAdmission,
): Admission {
  const budgets = { strangers: byteBudget(strangers), verified: byteBudget(verified) };
  const connections = new WeakMap<Socket, Connection>();
  const coming = new Set<ComingBody>();
  const budgetOf = ({ isVerified }: Connection): ByteBudget =>
    isVerified ? budgets.verified : budgets.strangers;

  const count = (socket: Socket, one: Connection): void => {
    one.own?.release();
    one.own = budgetOf(one).hold({
      peer: one.peer,
      bytes: perConnection,
      onDropped: () => close(socket, one, "displaced"),
    });
  };
  const connectionOf = (socket: Socket): Connection => {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const peer = peerOf(socket.remoteAddress);
    const one: Connection = { peer, closed: new AbortController(), isVerified: false, own: undefined };
    connections.set(socket, one);
    socket.once("close", () => close(socket, one, "cut off"));
    if (!socket.destroyed) count(socket, one);
    return one;
  };

  return {
    connected: (socket) => void connectionOf(socket),
    body(incoming, { most, group }) {
      const { socket } = incoming;
      const one = connectionOf(socket);
      const hold = (bytes: number): Holding =>
        budgetOf(one).hold({
          ...{ peer: one.peer, group, bytes },
          onDropped: () => close(socket, one, "displaced"),
        });
      const body: ComingBody = { since: clock(), bytes: 0, end: () => close(socket, one, "too slow") };
      let holding = hold(0);
      const release = (): void => {
        holding.release();
        coming.delete(body);
        // The next request on the connection begins its age anew.
        if (!one.closed.signal.aborted) count(socket, one);
      };
      return {
        signal: one.closed.signal,
        release,
        async read() {
          coming.add(body);
          try {
            return await readIncoming(incoming, most, one.closed.signal, (bytes) => {
              body.bytes += bytes;
              holding.grow(bytes);
            });
          } finally {
            coming.delete(body);
          }
        },
        verified() {
          one.isVerified = true;
          one.own?.release();
          holding.release();
          if (!incoming.complete && !one.closed.signal.aborted) holding = hold(body.bytes);
        },
      };
    },
    endSlow() {
      for (const { since, bytes, end } of coming) {
        const late = clock() - since - patience;
        if (late > 0 && bytes < (late / 1_000) * leastRate) end();
      }
    },
    held: () => ({ strangers: budgets.strangers.held(), verified: budgets.verified.held() }),
  };
}

/** A body that is being read. */
interface ComingBody {
  readonly since: Milliseconds;
  bytes: number;
  readonly end: () => void;
}

function close(socket: Socket, { closed, own }: Connection, why: BodyRefusedError["why"]): void {
  own?.release();
  if (!closed.signal.aborted) closed.abort(new BodyRefusedError(why));
  socket.destroy();
}

async function readIncoming(
  incoming: IncomingMessage,
  most: number,
  closed: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  const bodyOf: AsyncIterable<Buffer> = incoming.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of bodyOf) {
      size += chunk.length;
      if (size > most) throw new BodyRefusedError("too large");
      chunks.push(chunk);
      onBytes(chunk.length);
      closed.throwIfAborted();
    }
  } catch (error) {
    if (error instanceof BodyRefusedError) throw error;
    const reason: unknown = closed.reason;
    throw reason instanceof BodyRefusedError ? reason : new BodyRefusedError("cut off");
  }
  return Buffer.concat(chunks);
}

/** An address, as its owner has it: IPv6 is given out by the /64, so all of one is one peer. */
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
