import { formatSeconds } from "../story/narrator.ts";
import { startSandboxProcess } from "./api-server.ts";
import { checkRedis, redisAddresses, startOwnRedis } from "./redis.ts";
import type { DemoRun } from "../demo-run.ts";
import { givenS3, type S3Access, startOwnS3 } from "./s3.ts";
import { orStop } from "../stop-request.ts";

/** The servers that Drover needs, given or started. */
export type DemoServers = Readonly<Awaited<ReturnType<typeof startServers>>>;

/**
 * Starts the servers that were not given, all at once. If one does not start, requests the stop of everything and
 * rejects with its error.
 */
export async function startServers(run: DemoRun) {
  const { options, folder, request } = run;
  const { signal } = request;
  const starts = [
    orStop(request, apiServer(run, signal)),
    orStop(request, redis(run, signal)),
    orStop(request, s3(run, signal)),
  ] as const;
  // Wait for all of them, so that none is still starting when the stop begins.
  await Promise.allSettled(starts);
  const [api, redisUrl, buckets] = await Promise.all(starts);
  return {
    kubeconfig: options.kubeconfig ?? folder.kubeconfig,
    context: options.context,
    /** URL of the sandbox; undefined if a cluster was given. */
    sandboxUrl: api?.url,
    redisUrl,
    s3: buckets,
  };
}

async function apiServer(run: DemoRun, signal: AbortSignal) {
  const { kubeconfig } = run.options;
  if (kubeconfig !== undefined) {
    run.narrator.print(`Using the cluster of ${kubeconfig}`);
    return undefined;
  }
  return started(
    run,
    "API server",
    startSandboxProcess(run, signal),
    ({ url, pid }) => `${url}, process ${pid}`,
  );
}

async function redis(run: DemoRun, signal: AbortSignal): Promise<string> {
  const { redis: url } = run.options;
  if (url !== undefined) {
    await checkRedis(url, signal);
    run.narrator.print(`Using the Redis at ${redisAddresses(url)}`);
    return url;
  }
  const own = await started(
    run,
    "Redis",
    startOwnRedis(run, signal),
    (server) => `${server.url}, ${server.description}, process ${server.pid}`,
    installed,
  );
  return own.url;
}

async function s3(run: DemoRun, signal: AbortSignal): Promise<S3Access> {
  const { s3: url, s3Region } = run.options;
  if (url !== undefined) {
    const given = await givenS3(url, s3Region, signal);
    run.narrator.print(`Using the S3 server at ${url}`);
    return given;
  }
  return started(
    run,
    "S3 server",
    startOwnS3(run, signal),
    (server) => `${server.url}, process ${String(server.pid)}`,
    installed,
  );
}

/** If a server takes longer, print a hint at the reason. */
const slow = 4_000;
const installed = " The first time, it is installed with pip.";

async function started<T>(
  { narrator: { print } }: DemoRun,
  name: string,
  start: Promise<T>,
  describe: (server: T) => string,
  why = "",
): Promise<T> {
  const begun = performance.now();
  const hint = setTimeout(() => print(`Still starting: ${name}.${why}`, "quiet"), slow);
  try {
    const server = await start;
    print(`${name} started in ${formatSeconds(performance.now() - begun)}: ${describe(server)}`);
    return server;
  } finally {
    clearTimeout(hint);
  }
}
