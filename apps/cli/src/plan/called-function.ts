import { openCalledFunction, pendingRuns, readWebhookFunction, TargetError } from "@drover/calls";
import { objectKey, ReconcileFunction } from "@drover/controller";
import { isApiError, type KubeClient, refOf } from "@drover/kube";
import { cacheSecrets, secretProblem } from "@drover/webhook";
import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { CommandError } from "../command-error.ts";
import { type FunctionManifest, readManifests } from "../deploy/read-manifests.ts";
import type { PlanOptions } from "./plan-object.ts";

export interface CalledFunctionOptions {
  /** Where the function runs. */
  readonly url: string;
  /** The folder with its ReconcileFunction. */
  readonly folder: string;
  /** The file with the secret that it shares with the gateway. */
  readonly secretFile: string | undefined;
  readonly client: KubeClient;
  /** The namespace of a ReconcileFunction that names none. */
  readonly namespace: string;
}

/** A function that is called over HTTP, for plans: it is called where it runs now, and not where it is deployed. */
export type PlannedCalls = NonNullable<PlanOptions["called"]>;

/** @throws CommandError if there is no such function, or it cannot be called. */
export async function plannedCalls({
  url: text,
  folder,
  secretFile,
  client,
  namespace,
}: CalledFunctionOptions): Promise<PlannedCalls> {
  const url = parsedUrl(text);
  const { metadata, spec } = calledIn(folder);
  const name = { name: metadata.name, namespace: metadata.namespace ?? namespace };
  const uid = (await deployedUid(client, name)) ?? "planned";
  const read = readWebhookFunction({ metadata: { ...name, uid, resourceVersion: "0" } }, spec);
  if (!read.ok) throw new CommandError(`The ReconcileFunction cannot be called. ${read.problem}`);
  const { fn } = read;
  const secrets = fn.metacontroller === undefined ? [secretIn(secretFile)] : [];
  const targetAt = (path: string) => async () => {
    const target = new URL(url);
    if (path !== "/") target.pathname = `${target.pathname.replace(/\/$/, "")}${path}`;
    return { url: target, address: await addressOf(target) };
  };
  const calling = {
    fn,
    pending: pendingRuns(),
    complete: undefined,
    source: "/drover/plan",
    now: Date.now,
    agent: url.protocol === "https:" ? new HttpsAgent() : new HttpAgent(),
    secrets: cacheSecrets(
      () => Promise.resolve(secrets),
      () => 0,
      Infinity,
    ),
    target: targetAt("/"),
  };
  return (onChildren) => openCalledFunction({ calling, targetAt, ...(onChildren && { onChildren }) });
}

function parsedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new CommandError(`--url ${text} is no http or https URL. Give one such as http://localhost:8080/`);
}

function calledIn(folder: string): FunctionManifest {
  const { functions } = readManifests(folder);
  const called = functions.filter(({ spec }) => spec.delivery === "webhook");
  const [first] = called;
  if (first !== undefined && called.length === 1) return first;
  throw new CommandError(
    `${folder} has ${called.length} ReconcileFunctions with delivery: webhook. Name a folder with one: --dir FOLDER`,
  );
}

/** The uid by which a deployed function knows its calls. */
async function deployedUid(
  client: KubeClient,
  name: { readonly name: string; readonly namespace: string },
): Promise<string | undefined> {
  const found = await client.get(refOf(ReconcileFunction), objectKey(name)).catch((error: unknown) => {
    if (isApiError(error, "NotServed", "Forbidden")) return undefined;
    throw error;
  });
  return found?.metadata.uid;
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
