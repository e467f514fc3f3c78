import { silentLog } from "@drover/controller";
import { findRedis7, freePort, privateTls, startRedis, startRedisCluster } from "@drover/local-servers";
import { afterEach, expect, it } from "vitest";
import { folderOfFile } from "../../../testing/src/folder.fixture.ts";
import { connectRedis, disconnectRedis } from "./redis-connection.ts";
import type { RedisConnection } from "./redis-servers.ts";

const folder = folderOfFile();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const connect = async (url: string, ca?: string): Promise<RedisConnection> => {
  const redis = await connectRedis({
    url,
    clientName: "tls",
    log: silentLog,
    connectTimeout: 5_000,
    ...(ca && { ca }),
  });
  closing.unshift(() => disconnectRedis(redis));
  return redis;
};
it("a server with TLS is believed with its authority, at the address that its certificate names, and not else", async () => {
  const [own, another, port] = [
    await privateTls(folder, "own"),
    await privateTls(folder, "another"),
    await freePort(),
  ];
  const executable = await findRedis7();
  const server = await startRedis({ persistence: false, executable, args: own.args(port) });
  closing.unshift(() => server.stop());
  const redis = await connect(`rediss://127.0.0.1:${port}`, own.ca);
  await redis.set("a", "1");
  expect(await redis.get("a")).toBe("1");
  await expect(connect(`rediss://127.0.0.1:${port}`, another.ca)).rejects.toThrow(
    /presents a certificate that is not trusted.*DROVER_REDIS_CA_FILE/,
  );
  await expect(connect(`rediss://127.0.0.1:${port}`)).rejects.toThrow(
    /presents a certificate that is not trusted/,
  );
  await expect(connect(`rediss://localhost:${port}`, own.ca)).rejects.toThrow(
    /not trusted: Hostname\/IP does not match.*the host that the server's certificate names/,
  );
  await expect(connect(`redis://127.0.0.1:${server.port}`, own.ca)).rejects.toThrow(/Write rediss:\/\//);
});

it("so is a cluster", async () => {
  const [own, another, port] = [
    await privateTls(folder, "nodes"),
    await privateTls(folder, "others"),
    await freePort(),
  ];
  const executable = await findRedis7();
  const cluster = await startRedisCluster({
    nodes: 1,
    persistence: false,
    executable,
    args: [
      ...own.args(port),
      "--tls-ca-cert-file",
      own.caFile,
      "--tls-cluster",
      "yes",
      "--cluster-announce-ip",
      "127.0.0.1",
    ],
  });
  closing.unshift(() => cluster.stop());
  const redis = await connect(`rediss://127.0.0.1:${port}?cluster=true`, own.ca);
  await redis.set("a", "1");
  expect(await redis.get("a")).toBe("1");
  await expect(connect(`rediss://127.0.0.1:${port}?cluster=true`, another.ca)).rejects.toThrow(
    /is not reachable/,
  );
});
