import { Redis } from "ioredis";
import type { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";
import type { RedisConnection } from "./redis-servers.ts";

/**
 * If the server has presented another certificate than this one to the connection, makes it read its certificate files
 * again; later connections get what is in them. Does nothing without TLS, and on a cluster.
 *
 * @param redis logged in as a user that may call `CONFIG GET` and `CONFIG SET`.
 */
export async function reloadCertificate(redis: RedisConnection, wanted: X509Certificate): Promise<void> {
  if (!(redis instanceof Redis) || !(redis.stream instanceof TLSSocket)) return;
  if (redis.stream.getPeerX509Certificate()?.fingerprint256 === wanted.fingerprint256) return;
  const reply = (await redis.config("GET", "tls-cert-file", "tls-key-file")) as readonly string[];
  // Setting the files, also to the same paths, loads both. If one does not fit the other, nothing changes.
  await redis.call("CONFIG", "SET", ...reply);
}
