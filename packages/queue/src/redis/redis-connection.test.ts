import {
  freePort,
  type RedisPair,
  redisRequest,
  type RedisServer,
  startForwarder,
  startRedis,
  startRedisPair,
} from "@drover/local-servers";
import { Queue, Worker } from "bullmq";
import { createServer } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectionsUnderTest } from "./connections.fixture.ts";
import { disconnectRedis } from "./redis-connection.ts";
import { redisRefusalOf } from "./redis-errors.ts";

const { lines, connect } = connectionsUnderTest();
const messages = (): readonly string[] => lines.map(({ message }) => message);

/**
 * Starts a server that answers INFO with `info`, and OK to every other command; `answer` returns other answers, or an
 * empty one.
 */
async function startFakeRedis(
  info: string,
  answer: (command: string) => string | undefined,
): Promise<{ readonly url: string; readonly stop: () => void }> {
  const port = await freePort();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      for (const [, name = ""] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        const command = name.toLowerCase();
        const usual = command === "info" ? `$${info.length}\r\n${info}\r\n` : "+OK\r\n";
        socket.write(answer(command) ?? usual);
      }
    });
  }).listen(port, "127.0.0.1");
  return { url: `redis://127.0.0.1:${port}`, stop: () => server.close() };
}

describe("on one server", () => {
  let server: RedisServer;
  const ask = (...command: string[]) => redisRequest(server.port, command);
  /** How often the server has answered with an error of this code since the last `CONFIG RESETSTAT`. */
  const errors = async (code: string) => {
    const stats = (await ask("INFO", "errorstats")) ?? "";
    return Number(new RegExp(`errorstat_${code}:count=(\\d+)`).exec(stats)?.[1] ?? 0);
  };
  const demote = async () => {
    const deadEnd = await startForwarder(server.port);
    deadEnd.cut();
    await ask("REPLICAOF", "127.0.0.1", String(deadEnd.port));
    return async () => {
      await ask("REPLICAOF", "NO", "ONE");
      await deadEnd.stop();
    };
  };
  const loadSlowly = ["--key-load-delay", "500", "--loading-process-events-interval-bytes", "1024"];

  beforeAll(async () => {
    const args = ["--enable-debug-command", "local", ...loadSlowly];
    server = await startRedis({ persistence: true, args });
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await ask("FLUSHALL");
    await ask("CONFIG", "RESETSTAT");
  });

  it("warns that a connection to another machine is not encrypted, and says what to do", async () => {
    await connect(server.url);
    expect(messages().join()).not.toMatch(/encrypted/);
    // The same server, under an address that does not look like loopback.
    await connect(`redis://[::ffff:127.0.0.1]:${server.port}`);
    expect(messages().join()).toMatch(/not encrypted.*rediss:\/\/.*DROVER_REDIS_CA_FILE/);
  });

  it("a write that meets a replica waits until it is a primary again, and is done once", async () => {
    const redis = await connect(server.url);
    const promote = await demote();
    const writing = redis.incr("n");
    await expect.poll(() => errors("READONLY")).toBeGreaterThan(2);
    await promote();
    expect(await writing).toBe(1);
    expect(await redis.get("n")).toBe("1");
  });

  it("a read that meets a replica without its data waits, too", async () => {
    const redis = await connect(server.url);
    await redis.set("n", "1");
    await ask("CONFIG", "SET", "replica-serve-stale-data", "no");
    const promote = await demote();
    const reading = redis.get("n");
    await expect.poll(() => errors("MASTERDOWN")).toBeGreaterThan(2);
    await promote();
    await ask("CONFIG", "SET", "replica-serve-stale-data", "yes");
    expect(await reading).toBe("1");
  });

  it("a blocking read goes on when its server was a replica for a while", async () => {
    const redis = await connect(server.url);
    const reading = redis.bzpopmin("set", 0);
    await expect.poll(() => ask("CLIENT", "LIST")).toContain("cmd=bzpopmin");
    const promote = await demote();
    await expect.poll(() => errors("UNBLOCKED")).toBe(1);
    await promote();
    await expect.poll(() => ask("CLIENT", "LIST")).toContain("cmd=bzpopmin");
    await ask("ZADD", "set", "1", "a");
    expect(await reading).toEqual(["set", "a", "1"]);
  });

  it("a command that meets a server which loads its data waits until it is loaded", async () => {
    const redis = await connect(server.url);
    await redis.eval("for i = 1, 2000 do redis.call('SET', 'k' .. i, 'v') end", 0);
    const loading = ask("DEBUG", "RELOAD");
    await expect.poll(() => ask("INFO", "persistence")).toContain("\nloading:1\r\n");
    const writing = redis.incr("n");
    await expect.poll(() => errors("LOADING")).toBeGreaterThan(0);
    expect(await writing).toBe(1);
    await loading;
    expect(await redis.dbsize()).toBe(2001);
  });

  it("a command waits for a killed server, and for its data", async () => {
    const redis = await connect(server.url);
    await redis.eval("for i = 1, 2000 do redis.call('SET', 'k' .. i, 'v') end", 0);
    await server.kill();
    const writing = redis.incr("n");
    await expect.poll(() => lines).toHaveLength(1); // or it is back before anybody has noticed
    await server.restart();
    expect(await writing).toBe(1);
    expect(await redis.dbsize()).toBe(2001);
    expect(messages()).toEqual([
      "Redis is not reachable; trying again until it is",
      "Redis is reachable again",
    ]);
  });

  it("a start that is too early says that the server still loads its data", async () => {
    await ask("EVAL", "for i = 1, 3000 do redis.call('SET', 'k' .. i, 'v') end", "0");
    const loading = ask("DEBUG", "RELOAD");
    await expect.poll(() => ask("INFO", "persistence")).toContain("\nloading:1\r\n");
    await expect(connect(server.url, { connectTimeout: 100 })).rejects.toThrow(
      /not reachable: it is still loading its data/,
    );
    await loading;
  });

  it("a write for which there is no memory is refused at once, with what to do, and does nothing", async () => {
    const redis = await connect(server.url);
    await ask("CONFIG", "SET", "maxmemory", "1");
    const refused = await redis
      .eval("redis.call('SET', KEYS[1], 1) return redis.call('INCR', KEYS[1])", 1, "n")
      .catch((error: unknown) => error);
    await ask("CONFIG", "SET", "maxmemory", "0");
    expect(redisRefusalOf(refused)).toMatchObject({ name: "RedisRefusalError", code: "OOM" });
    expect(String(redisRefusalOf(refused))).toMatch(
      /no memory left and recorded nothing\. Raise its maxmemory/,
    );
    expect(await redis.get("n")).toBeNull();
  });

  it("a server without scripts is refused in a sentence, and nothing of a script is shown", async () => {
    for (const command of ["SCRIPT", "EVAL"]) {
      const without = await startRedis({ persistence: false, args: ["--rename-command", command, ""] });
      try {
        const lua = "local secret = 1\nreturn secret";
        const asked = async () => (await connect(without.url)).eval(lua, 0);
        const error = await asked().catch((cause: unknown) => redisRefusalOf(cause) ?? cause);
        const message = (error as Error).message;
        expect(message).toMatch(
          /lacks a command that Drover needs.*EVAL, EVALSHA and SCRIPT\. \(ERR unknown command '\w+'\)$/,
        );
        expect(message).not.toContain("secret");
      } finally {
        await without.stop();
      }
    }
  });

  it("a user needs no more than it says, and what is not granted is refused at once", async () => {
    await ask("ACL", "SETUSER", "least", "reset", "on", ">secret", "+info", "+ping", "+client|setname");
    await ask("ACL", "LOG", "RESET");
    const url = server.url.replace("//", "//least:secret@");
    const redis = await connect(url, { loadsScripts: false });
    await redis.ping();
    expect(await redis.acl("LOG").catch((error: unknown) => redisRefusalOf(error)?.code)).toBe("NOPERM");
    const admin = await connect(server.url);
    expect(await admin.acl("LOG")).toHaveLength(1);
    await disconnectRedis(redis);
    const again = await connect(url, { loadsScripts: false });
    const refused = await again.incr("n").catch((error: unknown) => error);
    expect(String(redisRefusalOf(refused))).toMatch(
      /does not permit this to Drover's user.*Grant it with ACL SETUSER/,
    );
  });

  it("a user that may not ask what the server is, is told what to grant", async () => {
    await ask("ACL", "SETUSER", "blind", "reset", "on", ">secret", "+ping", "+client|setname");
    await expect(connect(server.url.replace("//", "//blind:secret@"))).rejects.toThrow(
      /Grant it with ACL SETUSER\..* \(NOPERM .*'info' command\)/,
    );
  });

  it("BullMQ's queue and worker go on when their server was a replica for a while", async () => {
    const redis = await connect(server.url);
    const queue = new Queue("jobs", { connection: redis, prefix: "{drover:x}" });
    const done: unknown[] = [];
    const ring = (ids: readonly string[]) =>
      Promise.all(ids.map((jobId) => queue.add("claim", {}, { jobId, removeOnComplete: true })));
    const worker = new Worker("jobs", (job) => Promise.resolve(void done.push(job.id)), {
      connection: redis,
      prefix: "{drover:x}",
      concurrency: 4,
      runRetryDelay: 50,
    });
    worker.on("error", () => undefined);
    await ring(["a", "b"]);
    await expect.poll(() => done.length).toBe(2);
    const promote = await demote();
    const ringing = ring(["c", "d", "e"]);
    await expect.poll(() => errors("READONLY")).toBeGreaterThan(2);
    await promote();
    await ringing;
    await expect.poll(() => [...done].sort(), { timeout: 20_000 }).toEqual(["a", "b", "c", "d", "e"]);
    await worker.close();
    await queue.close();
  });

  it("a network that has gone silent is noticed", async () => {
    const network = await startForwarder(server.port);
    const redis = await connect(`redis://127.0.0.1:${network.port}`, { socketTimeout: 300 });
    expect(await redis.incr("n")).toBe(1);
    network.hold();
    const writing = redis.incr("n");
    await expect.poll(messages).toEqual(["Redis is not reachable; trying again until it is"]);
    network.mend();
    // What was sent into the silence may have arrived.
    expect([2, 3]).toContain(await writing);
    await network.stop();
  });

  it("a goodbye to a silent server is not waited for", async () => {
    const network = await startForwarder(server.port);
    const redis = await connect(`redis://127.0.0.1:${network.port}`, { socketTimeout: 3_600_000 });
    network.hold();
    await disconnectRedis(redis);
    await expect.poll(() => redis.status).toBe("end");
    await network.stop();
  });
});

describe("on a pair behind one address", () => {
  let pair: RedisPair;
  beforeAll(async () => {
    pair = await startRedisPair({ persistence: false });
  });
  afterAll(() => pair.stop());

  it.each(["killed", "demoted", "cut off"] as const)(
    "writes reach the new primary though the old one was %s",
    async (old) => {
      const redis = await connect(pair.url);
      await redis.incr(old);
      await pair.caughtUp();
      await pair.failOver({ old });
      expect(await redis.incr(old)).toBe(2);
      expect(await redisRequest(pair.primary.port, ["GET", old])).toBe("2");
      await pair.rejoin();
    },
  );
});

/** What connects under a name to a server. */
const clients = async (port: number, name: string): Promise<number> =>
  ((await redisRequest(port, ["CLIENT", "LIST"])) ?? "").split(` name=${name} `).length - 1;

it("a connection to a server that is refused is closed", async () => {
  const args = ["--maxmemory-policy", "allkeys-lru"];
  const unfit = await startRedis({ persistence: false, args });
  await expect(connect(unfit.url, { clientName: "refused" })).rejects.toThrow(/evicts keys/);
  await expect.poll(() => clients(unfit.port, "refused")).toBe(0);
  await unfit.stop();
});

it("is given up when its caller's signal fires, though the server stopped answering, and not once it is made", async () => {
  const server = await startRedis({ persistence: false });
  const made = new AbortController();
  const redis = await connect(server.url, { signal: made.signal });
  made.abort(new Error("too late"));
  expect(await redis.ping()).toBe("PONG");
  // It answers until the connection is ready, and to nothing after that.
  const asked = Promise.withResolvers<undefined>();
  let infos = 0;
  const info = "redis_version:7.4.6\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n";
  const mute = await startFakeRedis(info, (command) => {
    if (command !== "info" || ++infos === 1) return undefined;
    asked.resolve(undefined);
    return "";
  });
  const leave = new AbortController();
  const connecting = connect(mute.url, { signal: leave.signal });
  await asked.promise;
  leave.abort(new Error("waited long enough"));
  await expect(connecting).rejects.toThrow();
  mute.stop();
  await server.stop();
});

it("a Redis that is too old is refused", async () => {
  const info = "redis_version:6.2.14\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n";
  const old = await startFakeRedis(info, (command) => (command === "hello" ? "-NOPROTO\r\n" : undefined));
  await expect(connect(old.url)).rejects.toThrow(
    /is version 6\.2\.14, too old\. Use Redis 7 or newer, or Valkey/,
  );
  old.stop();
});

it("a password that is given apart goes with the user of the URL, whatever is in it", async () => {
  const server = await startRedis({ persistence: false });
  const password = "p@ss:%/#?%41";
  const admin = await connect(server.url);
  await admin.call("ACL", ["SETUSER", "worker", "on", `>${password}`, "~*", "+@all"]);
  const redis = await connect(server.url.replace("redis://", "redis://worker@"), { password });
  expect(await redis.call("ACL", ["WHOAMI"])).toBe("worker");
  await server.stop();
});

it("a node of a cluster is no single server", async () => {
  // Its bus would listen 10,000 above its port, which may be somebody's outgoing connection.
  const args = ["--cluster-enabled", "yes", "--cluster-port", String(await freePort())];
  const node = await startRedis({ persistence: false, args });
  await expect(connect(node.url)).rejects.toThrow(/is a node of a Redis Cluster\. Add \?cluster=true/);
  await node.stop();
});
