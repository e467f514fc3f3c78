import type { Milliseconds } from "@drover/controller";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { readIncoming } from "./read-incoming.ts";
import { type BudgetLimits, byteBudget } from "./byte-budget.ts";
import { type CountedConnection, countedConnections } from "./counted-connections.ts";

const MiB = 2 ** 20;

export interface AdmissionLimits {
  /** For connections without a verified message yet. */
  readonly strangers: BudgetLimits;
  /** For connections with one. Counted separately, so that unverified senders cannot cause these to be dropped. */
  readonly verified: BudgetLimits;
  /**
   * Bytes counted for each connection itself: headers, and the part of a body that has arrived but was not read yet.
   */
  readonly connection: number;
  /** Least average rate of a body in bytes per second, counted from the end of `patience`. */
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

/** The body of a request. `release` must be called at the end, also after an error. */
export interface IncomingBody {
  /**
   * The complete body, counted as its bytes arrive.
   * @throws BodyRefusedError; the connection is closed then, unless the body is too large
   */
  read(): Promise<Uint8Array>;
  /** Fires when the connection is closed. The body must not be kept after that. */
  readonly signal: AbortSignal;
  /** Marks the sender as verified. Its bytes count against the limits of verified senders from now on. */
  verified(): void;
  release(): void;
}

/**
 * Limits the memory that senders occupy before their signature is verified. Each listener that unknown senders can
 * reach has one. It counts bytes, not requests; `ByteBudget` describes which are dropped. Dropping closes the
 * connection.
 */
export interface Admission {
  /** Counts a connection until it is closed. */
  connected(socket: Socket): void;
  /**
   * @param most maximum size in bytes.
   * @param group bodies with the same group share a limit, such as those for one hook.
   */
  body(incoming: IncomingMessage, options: { readonly most: number; readonly group: string }): IncomingBody;
  /** Closes connections with a body below the least rate. To be called about once a second. */
  endSlow(): void;
  /** Bytes held now for unverified senders, and for verified ones. */
  held(): { readonly strangers: number; readonly verified: number };
}

/** @param clock monotonic. */
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

/** The progress of a body that is being read, to measure its rate. */
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
      // A complete body is no longer counted: its reader limits how many it processes.
      if (!incoming.complete) holding = from.hold(group, coming.bytes);
    },
    release() {
      holding.release();
      coming.end(coming);
      from.idle();
    },
  };
}
