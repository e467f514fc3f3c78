import { silentLog } from "@drover/controller";
import { findRedis7, freePort, startRedis, startRedisCluster } from "@drover/local-servers";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { connectRedis, disconnectRedis, type RedisConnection } from "./redis-connection.ts";

let folder: string;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drover-redis-tls-"));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A certificate of its own authority, made out to 127.0.0.1 and no name; answers its files. */
async function certificate(
  name: string,
): Promise<{ readonly key: string; readonly cert: string; readonly pem: string }> {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  await promisify(execFile)("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
  ]);
  return { key, cert, pem: await readFile(cert, "utf8") };
}
const connect = async (url: string, ca?: string): Promise<RedisConnection> => {
  const redis = await connectRedis({
    url,
    clientName: "tls",
    log: silentLog,
    patience: 5_000,
    ...(ca && { ca }),
  });
  closing.unshift(() => disconnectRedis(redis));
  return redis;
};
/** Settings of a server that takes TLS at a port of its own. */
const tlsArgs = (port: number, { key, cert }: { key: string; cert: string }): readonly string[] => [
  ...["--tls-port", String(port), "--tls-key-file", key, "--tls-cert-file", cert, "--tls-ca-cert-file", cert],
  ...["--tls-auth-clients", "no"],
];

it("a server with TLS is believed with its authority, at the address that its certificate names, and not else", async () => {
  const [own, another, port] = [await certificate("own"), await certificate("another"), await freePort()];
  const executable = await findRedis7();
  const server = await startRedis({ persistence: false, executable, args: tlsArgs(port, own) });
  closing.unshift(() => server.stop());
  const redis = await connect(`rediss://127.0.0.1:${port}`, own.pem);
  await redis.set("a", "1");
  expect(await redis.get("a")).toBe("1");
  await expect(connect(`rediss://127.0.0.1:${port}`, another.pem)).rejects.toThrow(
    /shows a certificate that is not believed.*DROVER_REDIS_CA_FILE/,
  );
  await expect(connect(`rediss://127.0.0.1:${port}`)).rejects.toThrow(
    /shows a certificate that is not believed/,
  );
  await expect(connect(`rediss://localhost:${port}`, own.pem)).rejects.toThrow(
    /not believed: Hostname\/IP does not match.*the host that its own certificate names/,
  );
  await expect(connect(`redis://127.0.0.1:${server.port}`, own.pem)).rejects.toThrow(/Write rediss:\/\//);
});

it("so is a cluster", async () => {
  const [own, another, port] = [await certificate("nodes"), await certificate("others"), await freePort()];
  const executable = await findRedis7();
  const cluster = await startRedisCluster({
    nodes: 1,
    persistence: false,
    executable,
    args: [...tlsArgs(port, own), "--tls-cluster", "yes", "--cluster-announce-ip", "127.0.0.1"],
  });
  closing.unshift(() => cluster.stop());
  const redis = await connect(`rediss://127.0.0.1:${port}?cluster=true`, own.pem);
  await redis.set("a", "1");
  expect(await redis.get("a")).toBe("1");
  await expect(connect(`rediss://127.0.0.1:${port}?cluster=true`, another.pem)).rejects.toThrow(
    /is not reachable/,
  );
});
