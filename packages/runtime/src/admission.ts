import type { Milliseconds } from "@drover/controller";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { readIncoming } from "./read-incoming.ts";
import { type BudgetLimits, byteBudget } from "./byte-budget.ts";
import { type CountedConnection, countedConnections } from "./counted-connections.ts";

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

/** @param clock one that never goes back. */
export function openAdmission(
  clock: () => Milliseconds,
  { strangers, verified, connection, leastRate, patience }: AdmissionLimits = usualAdmission,
): Admission {
  const budgets = { strangers: byteBudget(strangers), verified: byteBudget(verified) };
  const connections = countedConnections(budgets, connection);
  const coming = new Set<ComingBody>();
  return {
    connected: (socket) => void connections.of(socket),
    body(incoming, options) {
      const from = connections.of(incoming.socket);
      return incomingBody(incoming, from, options, {
        since: clock(),
        bytes: 0,
        begin: (body) => coming.add(body),
        end: (body) => coming.delete(body),
        tooSlow: () => from.close("too slow"),
      });
    },
    endSlow() {
      for (const { since, bytes, tooSlow } of coming) {
        const late = clock() - since - patience;
        if (late > 0 && bytes < (late / 1_000) * leastRate) tooSlow();
      }
    },
    held: () => ({ strangers: budgets.strangers.held(), verified: budgets.verified.held() }),
  };
}

/** A body that is being read: what its rate is judged by. */
interface ComingBody {
  readonly since: Milliseconds;
  bytes: number;
  readonly begin: (body: ComingBody) => void;
  readonly end: (body: ComingBody) => void;
  readonly tooSlow: () => void;
}

function incomingBody(
  incoming: IncomingMessage,
  from: CountedConnection,
  { most, group }: { readonly most: number; readonly group: string },
  coming: ComingBody,
): IncomingBody {
  let holding = from.hold(group, 0);
  return {
    signal: from.closed,
    async read() {
      coming.begin(coming);
      try {
        return await readIncoming(incoming, most, from.closed, (bytes) => {
          coming.bytes += bytes;
          holding.grow(bytes);
        });
      } finally {
        coming.end(coming);
      }
    },
    verified() {
      from.verified();
      holding.release();
      // A body that is whole is bounded by what its reader does with it.
      if (!incoming.complete) holding = from.hold(group, coming.bytes);
    },
    release() {
      holding.release();
      coming.end(coming);
      from.idle();
    },
  };
}
