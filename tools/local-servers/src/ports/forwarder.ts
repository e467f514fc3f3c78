import { once } from "node:events";
import { type AddressInfo, createServer, connect, type Socket } from "node:net";

/** A stable address on loopback with a target that can be changed, like a service name in a cluster. */
export interface Forwarder {
  readonly port: number;
  /** Bytes from targets since the start. */
  received(): number;
  /** New connections lead to the target from now on; existing ones stay. */
  pointAt(target: ForwardTarget): void;
  /** Ends all connections, both ways; bytes under way are lost. New ones are let in. */
  breakConnections(): void;
  /** Ends all connections, and refuses new ones until `mend`. */
  cut(): void;
  /** Keeps connections and accepts new ones, but passes no byte until `mend`: a network that drops everything. */
  hold(): void;
  /** Ends `cut` and `hold`. */
  mend(): void;
  stop(): Promise<void>;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  readonly isUnix: boolean;
}

/** A port of 127.0.0.1, or the path of a Unix socket. */
export type ForwardTarget = number | string;

/** Starts to pass on, byte by byte, what comes to a free port of 127.0.0.1. */
export async function startForwarder(target: ForwardTarget): Promise<Forwarder> {
  let state: "open" | "cut" | "held" = "open";
  const pairs = new Set<Pair>();
  let receivedBefore = 0;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (state === "cut") {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ ...addressOf(target), allowHalfOpen: true });
    const pair = { near, far, isUnix: typeof target === "string" };
    pairs.add(pair);
    const end = () => {
      if (pairs.delete(pair)) receivedBefore += far.bytesRead;
      breakPair(pair);
    };
    for (const socket of [near, far]) socket.setNoDelay().on("error", end).on("close", end);
    if (state === "open") join(pair);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const breakConnections = () => {
    for (const pair of pairs) breakPair(pair);
  };
  return {
    port: (server.address() as AddressInfo).port,
    received: () => [...pairs].reduce((sum, { far }) => sum + far.bytesRead, receivedBefore),
    pointAt: (next) => void (target = next),
    breakConnections,
    cut() {
      state = "cut";
      breakConnections();
    },
    hold() {
      state = "held";
      for (const { near, far } of pairs) {
        near.unpipe(far);
        far.unpipe(near);
      }
    },
    mend() {
      if (state === "held") for (const pair of pairs) join(pair);
      state = "open";
    },
    async stop() {
      const closed = once(server, "close");
      server.close();
      breakConnections();
      await closed;
    },
  };
}

const addressOf = (target: ForwardTarget) =>
  typeof target === "string" ? { path: target } : { port: target, host: "127.0.0.1" };

function join({ near, far }: Pair): void {
  near.pipe(far);
  far.pipe(near);
}

function breakPair({ near, far, isUnix }: Pair): void {
  // Where a socket is just ending, Node fails to reset it and forgets its handle, which must not keep us running.
  near.unref().resetAndDestroy();
  far.unref();
  // A Unix socket knows no reset.
  if (isUnix) far.destroy();
  else far.resetAndDestroy();
}
