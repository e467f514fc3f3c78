import { setTimeout as delay } from "node:timers/promises";
import { type Forwarder, startForwarder } from "../ports/forwarder.ts";
import { findRedis } from "./redis-executable.ts";
import { redisRequest } from "./redis-request.ts";
import { type RedisServerOptions, type RedisServer, startRedis } from "./redis-server.ts";

export interface RedisPair {
  /** `redis://127.0.0.1:PORT`, the one address of clients: what leads to the primary, before and after a failover. */
  readonly url: string;
  /** The forwarder behind `url`: it can be cut, held, or pointed at either server. */
  readonly address: Forwarder;
  /** The primary of the moment; `failOver` swaps the two. */
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  /** Resolves when the replica has all that the primary has written until now. */
  caughtUp(): Promise<void>;
  /**
   * From now on nothing that the primary acknowledges reaches the replica, which keeps what it has: the tail that a
   * failover loses. Lasts until `failOver` or `rejoin`.
   */
  severReplication(): void;
  /**
   * Makes the replica the primary and leads clients to it. The old primary was by default *killed*, which breaks its
   * connections. One that is *demoted* lives on as a replica of the new one, loses its tail, and keeps its clients'
   * connections: their writes are refused with READONLY. One that is *cut off* lives on, knows of nothing and still
   * believes that it is the primary; its clients' connections are broken.
   */
  failOver(options?: { old: "killed" | "demoted" | "cut off" }): Promise<void>;
  /** Starts or restarts the replica as one of the primary; resolves when it has caught up. */
  rejoin(): Promise<void>;
  /** Ends both and removes their temporary folders. May be repeated. */
  stop(): Promise<void>;
}

/**
 * Starts a primary and a replica on 127.0.0.1 and waits until the replica has caught up. Both die with this process.
 * Rejects as `startRedis` does; nothing is left then.
 */
export async function startRedisPair(options: Omit<RedisServerOptions, "dir" | "port">): Promise<RedisPair> {
  const executable = options.executable ?? (await findRedis({ signal: options.signal }));
  // Feed a new replica at once, not after the five seconds in which others might join.
  const args = ["--repl-diskless-sync-delay", "0", ...(options.args ?? [])];
  await using opening = new AsyncDisposableStack();
  const kept = <T extends { stop(): Promise<void> }>(part: T): T => opening.adopt(part, (one) => one.stop());
  const primary = kept(await startRedis({ ...options, executable, args }));
  const replica = kept(await startRedis({ ...options, executable, args }));
  const address = kept(await startForwarder(primary.port));
  const link = kept(await startForwarder(primary.port));
  const pair = pairOf({ primary, replica, address, link, stop: () => opened.disposeAsync() });
  await pair.rejoin();
  const opened = opening.move();
  return pair;
}

interface PairParts extends Pick<RedisPair, "primary" | "replica" | "address" | "stop"> {
  /** The forwarder between the replica and its primary. */
  readonly link: Forwarder;
}

function pairOf({ primary, replica, address, link, stop }: PairParts): RedisPair {
  const lead = () => {
    [primary, replica] = [replica, primary];
    address.pointAt(primary.port);
    link.cut();
    link.pointAt(primary.port);
  };
  const follow = async () => {
    link.mend();
    await redisRequest(replica.port, ["REPLICAOF", "127.0.0.1", String(link.port)]);
  };
  return {
    url: `redis://127.0.0.1:${address.port}`,
    address,
    get primary() {
      return primary;
    },
    get replica() {
      return replica;
    },
    caughtUp: () => caughtUp(primary, replica),
    severReplication: () => link.cut(),
    async failOver({ old } = { old: "killed" }) {
      if (old === "killed") await primary.kill();
      await redisRequest(replica.port, ["REPLICAOF", "NO", "ONE"]);
      lead();
      if (old === "demoted") await follow();
      else address.breakConnections();
    },
    async rejoin() {
      if (!(await isAnswering(replica))) await replica.restart();
      await follow();
      await caughtUp(primary, replica);
    },
    stop,
  };
}

async function caughtUp(primary: RedisServer, replica: RedisServer): Promise<void> {
  const written = numberIn(await replication(primary), "master_repl_offset");
  for (;;) {
    const [theirs, ours] = [await replication(primary), await replication(replica)];
    const follows =
      ours.includes("master_link_status:up\r\n") && replicationId(ours) === replicationId(theirs);
    if (follows && numberIn(ours, "slave_repl_offset") >= written) return;
    await delay(20);
  }
}

const replication = async ({ port }: RedisServer): Promise<string> =>
  (await redisRequest(port, ["INFO", "replication"])) ?? "";
const replicationId = (info: string): string | undefined => /\bmaster_replid:(\w+)/.exec(info)?.[1];
const numberIn = (info: string, field: string): number =>
  Number(new RegExp(`\\b${field}:(\\d+)`).exec(info)?.[1] ?? Number.NaN);

const isAnswering = ({ port }: RedisServer): Promise<boolean> =>
  redisRequest(port, ["PING"]).then(
    () => true,
    () => false,
  );
