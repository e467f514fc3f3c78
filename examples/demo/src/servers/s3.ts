import { startS3 } from "@drover/local-servers";
import { awsEnvironment, type EnvironmentVariables } from "../config.ts";
import type { DemoRun } from "../demo-run.ts";

/** How the bucket function reaches its S3 server. */
export interface S3Access {
  readonly url: string;
  /** Settings of the function that select the server. */
  readonly settings: EnvironmentVariables;
  /** Environment variables in which the AWS SDK finds the credentials. */
  readonly credentials: EnvironmentVariables;
  /** True if this run started it. It then answers requests without a signature. */
  readonly isOwn: boolean;
  readonly pid?: number;
}

/** Starts an S3 server. If it ends, the run ends: its buckets are lost. */
export async function startOwnS3(
  { folder, opened, request }: DemoRun,
  signal: AbortSignal,
): Promise<S3Access> {
  const s3 = await startS3({ dir: folder.logs, signal });
  folder.noteProcess("s3", s3.pid);
  opened.push({ name: "the S3 server", stop: () => s3.stop() });
  void s3.exited.then(() => {
    const problem = "The S3 server ended by itself, and all buckets with it.";
    request.stop({ kind: "broken", problem });
  });
  return {
    url: s3.url,
    isOwn: true,
    pid: s3.pid,
    settings: { DROVER_S3_ENDPOINT: s3.url, DROVER_S3_REGION: s3.region },
    credentials: {
      AWS_ACCESS_KEY_ID: s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
      AWS_SESSION_TOKEN: undefined,
      AWS_PROFILE: undefined,
    },
  };
}

/**
 * A given S3 server, with the AWS credentials of this process's environment. Rejects, with a remedy, if no server
 * answers at the URL.
 */
export async function givenS3(url: string, region: string, signal: AbortSignal): Promise<S3Access> {
  try {
    const giveUp = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
    await (await fetch(url, { method: "HEAD", redirect: "manual", signal: giveUp })).arrayBuffer();
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`No S3 server answers at ${url}. Start it, or leave --s3 out to have one started.`, {
      cause,
    });
  }
  const settings = { DROVER_S3_ENDPOINT: url, DROVER_S3_REGION: region };
  return { url, isOwn: false, settings, credentials: awsEnvironment() };
}

/**
 * Checks if the S3 server has a bucket, with an unsigned request that bypasses Drover. An existing bucket answers 200,
 * or 403 or a redirect if the caller is not authenticated. Undefined if the answer does not show it.
 */
export async function hasBucket(
  { url }: S3Access,
  name: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  try {
    const response = await fetch(`${url}/${encodeURIComponent(name)}`, {
      method: "HEAD",
      redirect: "manual",
      signal,
    });
    if (response.status === 404) return false;
    return response.status < 400 || response.status === 403 ? true : undefined;
  } catch {
    return undefined;
  }
}
