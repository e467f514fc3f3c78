import { type Target, TargetError, type WebhookFunction, withPath } from "@drover/calls";
import { objectKey } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { z } from "zod";
import { isNonServiceAddress, isPublic, type Networks } from "./addresses.ts";
import { type AllowedUrl, allowedUrl, UrlRefusedError } from "./allowed-urls.ts";

export interface TargetRules {
  readonly client: Pick<KubeClient, "get">;
  /** URLs outside the cluster that may be called. */
  readonly allowed: readonly AllowedUrl[];
  /** Networks that calls may go to although they are not public. */
  readonly networks: Networks;
  /** Allows Services without a selector. A user that may write their endpoints can choose any address. */
  readonly unselected: boolean;
  /** All addresses of a host name. Default: by DNS; tests replace it. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** @throws TargetError */
export function targetOf(fn: WebhookFunction, rules: TargetRules, signal: AbortSignal): Promise<Target> {
  return fn.url === undefined ? serviceTarget(fn, rules, signal) : urlTarget(fn.url, fn.path, rules);
}

const serviceSchema = z.looseObject({
  spec: z.looseObject({
    type: z.string().exactOptional(),
    selector: z.record(z.string(), z.string()).default({}),
    clusterIP: z.string().exactOptional(),
    ports: z.array(z.looseObject({ port: z.number(), protocol: z.string().exactOptional() })).default([]),
  }),
});

/** Uses the Service's cluster IP: no name is resolved, and only the API server defines the address. */
async function serviceTarget(
  { namespace, service: { name, port }, path }: WebhookFunction,
  { client, networks, unselected }: TargetRules,
  signal: AbortSignal,
): Promise<Target> {
  const key = objectKey({ namespace, name });
  const found = await client.get(builtin.service, key, { signal });
  if (found === undefined) {
    throw new TargetError(`There is no Service ${key}. Create it, or name another in spec.webhook.service.`);
  }
  const { type = "ClusterIP", clusterIP = "", selector, ports } = serviceSchema.parse(found).spec;
  if (type === "ExternalName") {
    throw new TargetError(`The Service ${key} is an ExternalName. Give webhook.url, and have it allowed.`);
  }
  if (Object.keys(selector).length === 0 && !unselected) {
    throw new TargetError(
      `The Service ${key} has no selector: its endpoints may be any address. Give it one that selects the Pods of the ` +
        "function, or have such Services allowed (DROVER_WEBHOOK_UNSELECTED of the gateway).",
    );
  }
  if (isIP(clusterIP) === 0) {
    throw new TargetError(`The Service ${key} has no cluster IP. Give one that is not headless.`);
  }
  if (isNonServiceAddress(clusterIP) && !networks.has(clusterIP)) {
    throw new TargetError(`The Service ${key} has the address ${clusterIP}, which a Service cannot have.`);
  }
  if (!ports.some((one) => one.port === port && (one.protocol ?? "TCP") === "TCP")) {
    throw new TargetError(
      `The Service ${key} has no TCP port ${port}. Name one of its ports in spec.webhook.`,
    );
  }
  const host = isIP(clusterIP) === 6 ? `[${clusterIP}]` : clusterIP;
  return { url: withPath(new URL(`http://${host}:${port}`), path), address: clusterIP };
}

/** Resolves the host once. Every address must be allowed, so that none can be chosen that is not. */
async function urlTarget(
  text: string,
  path: string,
  { allowed, networks, resolve = resolveHost }: TargetRules,
): Promise<Target> {
  const url = withPath(checkedUrl(text, allowed), path);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host];
  const [address] = addresses;
  if (address === undefined)
    throw new TargetError(
      `The host ${host} of webhook.url cannot be resolved. Check its name and its DNS record.`,
    );
  const inside = addresses.find((one) => !isPublic(one) && !networks.has(one));
  if (inside === undefined) return { url, address };
  // The message does not show which address, so that a user without access learns nothing about the networks inside.
  throw new TargetError(
    `The host ${host} of webhook.url has an address that is not public. Call a Service instead, or have its network ` +
      "allowed (DROVER_WEBHOOK_NETWORKS of the gateway).",
  );
}

function checkedUrl(text: string, allowed: readonly AllowedUrl[]): URL {
  try {
    return allowedUrl(text, allowed);
  } catch (error) {
    throw error instanceof UrlRefusedError ? new TargetError(error.message) : error;
  }
}

async function resolveHost(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, order: "verbatim" })).map(({ address }) => address);
}
