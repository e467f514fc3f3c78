import { silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer as httpServer } from "node:http";
import { connect, createServer as plainServer, type Server } from "node:net";
import { join } from "node:path";
import { createServer as tlsServer } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { folderOfFile } from "../../../testing/src/folder.fixture.ts";
import { connectRedis, disconnectRedis } from "./redis-connection.ts";
import { UnfitRedisError } from "./check-server.ts";

const folder = folderOfFile();
let redis: RedisServer;
let cert: string;
const opened: Server[] = [];
const ports: Record<string, number> = {};

async function listen(name: string, server: Server): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  ports[name] = typeof address === "object" && address !== null ? address.port : expect.fail("no port");
  opened.push(server);
}

beforeAll(async () => {
  const [keyFile, certFile] = [join(folder, "key"), join(folder, "crt")];
  const names = ["-subj", "/CN=redis", "-addext", "subjectAltName=IP:127.0.0.1"];
  await promisify(execFile)("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...[...names, "-keyout", keyFile, "-out", certFile],
  ]);
  const key = await readFile(keyFile);
  cert = await readFile(certFile, "utf8");
  redis = await startRedis({ persistence: false });
  ports["plain"] = redis.port;
  await listen(
    "http",
    httpServer((_request, response) => response.end("hello")),
  );
  await listen(
    "mail",
    plainServer((socket) => void socket.on("error", () => undefined).write("220 mail\r\n")),
  );
  await listen(
    "tls",
    tlsServer({ key, cert }, (socket) => {
      const behind = connect(redis.port, "127.0.0.1");
      for (const one of [socket, behind]) one.on("error", () => undefined);
      socket.pipe(behind).pipe(socket);
    }),
  );
});
afterAll(async () => {
  for (const server of opened) server.close();
  await redis.stop();
});

const attempt = (scheme: string, port: string, ca?: string): Promise<unknown> =>
  connectRedis({
    url: `${scheme}://me:CANARY@127.0.0.1:${ports[port] ?? 0}`,
    clientName: "test",
    log: silentLog,
    connectTimeout: 1_000,
    ...(ca !== undefined && { ca }),
  }).catch((error: unknown) => error);

it.each([
  ["rediss", "plain", /no answer over TLS; .* write redis:\/\/ in its URL/],
  ["redis", "tls", /closes every connection without an answer; .* write rediss:\/\/ in its URL/],
  ["redis", "http", /: an HTTP server answers there\. Give the port of Redis\.$/],
  ["rediss", "http", /: it answers without TLS\. Give its port for TLS, or write redis:\/\//],
  ["redis", "mail", /: the server there is not Redis\. Give the port of Redis\.$/],
  ["rediss", "tls", /a certificate that is not trusted: .*DROVER_REDIS_CA_FILE/],
])("%s:// to a %s port says what to write, and nothing of the password", async (scheme, port, words) => {
  const error = await attempt(scheme, port);
  expect(error).toBeInstanceOf(UnfitRedisError);
  expect(String(error)).toMatch(words);
  expect(String(error)).not.toMatch(/CANARY|Q0FOQVJZ/);
});

it("an authority that is given is believed: then it is Redis that refuses the password", async () => {
  expect(String(await attempt("rediss", "tls", cert))).toMatch(
    /refuses us: WRONGPASS.*Check user and password/,
  );
  const connection = await connectRedis({
    url: `rediss://127.0.0.1:${ports["tls"] ?? 0}`,
    clientName: "test",
    log: silentLog,
    ca: cert,
  });
  expect(await connection.ping()).toBe("PONG");
  await disconnectRedis(connection);
});
