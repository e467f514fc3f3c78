import {
  type CallResources,
  type openCalledFunction,
  pendingRuns,
  readPulledFunction,
  readWebhookFunction,
  TargetError,
  type WebhookFunction,
  withPath,
} from "@drover/calls";
import { cacheSecrets, secretProblem } from "@drover/webhook";
import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { CommandError } from "../command-error.ts";
import { type FunctionManifest, readManifests } from "../deploy/read-manifests.ts";

/** The ReconcileFunction of a function that is called, and the CRDs beside it. */
export interface CalledManifests extends Pick<ReturnType<typeof readManifests>, "crds"> {
  readonly manifest: FunctionManifest;
}

/** @throws CommandError if the folder does not have exactly one such function. */
export function calledIn(folder: string): CalledManifests {
  const { functions, crds } = readManifests(folder);
  const called = functions.filter(({ spec }) => spec.delivery === "webhook");
  const [manifest] = called;
  if (manifest !== undefined && called.length === 1) return { manifest, crds };
  throw new CommandError(
    `${folder} has ${called.length} ReconcileFunctions with delivery: webhook; others cannot be called. Name a folder with ` +
      "one: --dir FOLDER",
  );
}

/**
 * The ReconcileFunction of a function that runs in a Pod of a plan, however its keys are delivered.
 *
 * @throws CommandError if the folder has none, or it is not clear which one is meant.
 */
export function plannedIn(folder: string): FunctionManifest {
  const { functions } = readManifests(folder);
  const [only, ...others] = functions;
  return only !== undefined && others.length === 0 ? only : calledIn(folder).manifest;
}

/** @throws CommandError if the function cannot be called. */
export function webhookFunction(
  { spec }: FunctionManifest,
  identity: { readonly name: string; readonly namespace: string; readonly uid: string },
): WebhookFunction {
  const read = (spec.delivery === "webhook" ? readWebhookFunction : readPulledFunction)(
    { metadata: { ...identity, resourceVersion: "0" } },
    spec,
  );
  if (read.ok) return read.fn;
  throw new CommandError(`The ReconcileFunction cannot be called. ${read.problem}`);
}

export interface LocalCalls {
  readonly fn: WebhookFunction;
  /** Where the function runs. */
  readonly url: URL;
  readonly secrets: readonly string[];
  /** Names the command in `ce-source`. */
  readonly source: string;
  /** Sends the calls, if the URL has no address that can be connected to. */
  readonly post?: CallResources["post"];
}

/** The resources for calls of a function at a URL, instead of where it is deployed. */
export function localCalls({
  fn,
  url,
  secrets,
  source,
  post,
}: LocalCalls): Pick<Parameters<typeof openCalledFunction>[0], "calling" | "targetAt"> {
  const targetAt = (path: string) => async () => {
    const target = withPath(url, path);
    return { url: target, address: post === undefined ? await addressOf(target) : "" };
  };
  const calling: CallResources = {
    fn,
    pending: pendingRuns(),
    complete: undefined,
    source,
    now: Date.now,
    agent: url.protocol === "https:" ? new HttpsAgent() : new HttpAgent(),
    secrets: cacheSecrets(
      () => Promise.resolve(secrets),
      () => 0,
      Infinity,
    ),
    target: targetAt("/"),
    ...(post && { post }),
  };
  return { calling, targetAt };
}

export function parsedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new CommandError(`--url ${text} is no http or https URL. Give one such as http://localhost:8080/`);
}

/**
 * The secrets of a function's calls: none for hooks of Metacontroller, which are not signed.
 * @throws CommandError if the file is missing, or has no secret.
 */
export function callSecrets(
  { metacontroller }: WebhookFunction,
  secretFile: string | undefined,
): readonly string[] {
  return metacontroller === undefined ? [secretIn(secretFile)] : [];
}

function secretIn(file: string | undefined): string {
  if (file === undefined)
    throw new CommandError(
      "Calls are signed: give the file with the secret that the function verifies, such as --secret-file secrets/current",
    );
  const secret = textOf(file).trim();
  const problem = secretProblem(secret);
  if (problem === undefined) return secret;
  throw new CommandError(`The secret in ${file} ${problem}.`);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new CommandError(`${file} cannot be read. Give the file with the function's secret.`, { cause });
  }
}

async function addressOf({ hostname }: URL): Promise<string> {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  try {
    return (await lookup(host)).address;
  } catch {
    throw new TargetError(`The host ${host} of --url cannot be resolved.`);
  }
}
