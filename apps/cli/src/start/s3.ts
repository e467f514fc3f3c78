import { isRunning, type S3Server, startS3 } from "@drover/local-servers";
import { setTimeout as delay } from "node:timers/promises";
import { awsEnvironment, type Environment } from "../config.ts";
import type { Run } from "./run.ts";

/** How the bucket function reaches its S3 server. */
export interface S3Access {
  readonly url: string;
  /** Which server it is, as settings of the function. */
  readonly settings: Environment;
  /** Variables with which the AWS SDK finds its credentials. */
  readonly credentials: Environment;
  /** Whether it is ours: then everybody may ask it, without a signature. */
  readonly own: boolean;
  readonly pid?: number;
}

const lookEvery = 500;

/** Starts an S3 server. Its end is the end of the run: the buckets are gone with it. */
export async function startOwnS3({ folder, opened, request }: Run, signal: AbortSignal): Promise<S3Access> {
  const s3 = await startS3({ dir: folder.logs, signal });
  folder.noteProcess("s3", s3.pid);
  opened.push({ name: "the S3 server", stop: () => s3.stop() });
  void watchOver(s3, request.signal).then((ended) => {
    if (!ended) return;
    const problem = "The S3 server ended by itself, and all buckets with it.";
    request.stop({ kind: "broken", problem });
  });
  return {
    url: s3.url,
    own: true,
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

/** True when the server has ended though nobody asked it to. */
async function watchOver({ pid }: S3Server, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (!isRunning(pid)) return true;
    await delay(lookEvery, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

/**
 * An S3 server that was given, reached with the AWS credentials of this process' environment. Rejects, with what to do,
 * when nobody answers there.
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
  return { url, own: false, settings, credentials: awsEnvironment() };
}

/**
 * Whether the S3 server has a bucket, asked of it without a signature and without a word to Drover: one that is there
 * answers 200, or 403 or a redirect where the asker is not known.
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
