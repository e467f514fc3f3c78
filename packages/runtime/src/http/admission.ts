import type { Milliseconds } from "@drover/controller";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { readIncomingBody } from "./read-incoming-body.ts";
import { type BudgetLimits, byteBudget } from "./byte-budget.ts";
import { type CountedConnection, countedConnections } from "./counted-connections.ts";

const MiB = 2 ** 20;

export interface AdmissionLimits {
  /** For connections without a verified message yet. */
  readonly unverified: BudgetLimits;
  /** For connections with one. Counted separately, so that unverified senders cannot cause these to be dropped. */
  readonly verified: BudgetLimits;
  /**
   * Bytes counted for each connection itself: headers, and the part of a body that has arrived but was not read yet.
   */
  readonly connection: number;
  /** Least average rate of a body in bytes per second, counted from the end of `rateGrace`. */
  readonly minRate: number;
  readonly rateGrace: Milliseconds;
}

export const defaultAdmissionLimits: AdmissionLimits = {
  unverified: { total: 64 * MiB, peer: 16 * MiB, group: 16 * MiB },
  verified: { total: 128 * MiB, peer: 64 * MiB, group: 64 * MiB },
  connection: 32 * 1_024,
  minRate: 1_024,
  rateGrace: 2_000,
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
  closeSlow(): void;
  /** Bytes held now for unverified senders, and for verified ones. */
  held(): { readonly unverified: number; readonly verified: number };
}

/** @param clock monotonic. */
export function openAdmission(
  clock: () => Milliseconds,
  { unverified, verified, connection, minRate, rateGrace }: AdmissionLimits = defaultAdmissionLimits,
): Admission {
  const budgets = { unverified: byteBudget(unverified), verified: byteBudget(verified) };
  const connections = countedConnections(budgets, connection);
  const arriving = new Set<ArrivingBody>();
  return {
    connected: (socket) => void connections.of(socket),
    body(incoming, options) {
      const from = connections.of(incoming.socket);
      return incomingBody(incoming, from, options, {
        since: clock(),
        bytes: 0,
        begin: (body) => arriving.add(body),
        end: (body) => arriving.delete(body),
        tooSlow: () => from.close("too slow"),
      });
    },
    closeSlow() {
      for (const { since, bytes, tooSlow } of arriving) {
        const late = clock() - since - rateGrace;
        if (late > 0 && bytes < (late / 1_000) * minRate) tooSlow();
      }
    },
    held: () => ({ unverified: budgets.unverified.held(), verified: budgets.verified.held() }),
  };
}

/** The progress of a body that is being read, to measure its rate. */
interface ArrivingBody {
  readonly since: Milliseconds;
  bytes: number;
  readonly begin: (body: ArrivingBody) => void;
  readonly end: (body: ArrivingBody) => void;
  readonly tooSlow: () => void;
}

function incomingBody(
  incoming: IncomingMessage,
  from: CountedConnection,
  { most, group }: { readonly most: number; readonly group: string },
  arriving: ArrivingBody,
): IncomingBody {
  let holding = from.hold(group, 0);
  return {
    signal: from.closed,
    async read() {
      arriving.begin(arriving);
      try {
        return await readIncomingBody(incoming, most, from.closed, (bytes) => {
          arriving.bytes += bytes;
          holding.grow(bytes);
        });
      } finally {
        arriving.end(arriving);
      }
    },
    verified() {
      from.verified();
      holding.release();
      // A complete body is no longer counted: its reader limits how many it processes.
      if (!incoming.complete) holding = from.hold(group, arriving.bytes);
    },
    release() {
      holding.release();
      arriving.end(arriving);
      from.idle();
    },
  };
}
