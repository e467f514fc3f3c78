import { UnfitRedisError } from "./refuse-unfit.ts";

/** One server, or a cluster of which some nodes are known; the others are asked for. */
export type RedisAddress =
  | {
      readonly kind: "server";
      readonly url: string;
      /** With its port, for people. */
      readonly host: string;
      /** The one. */
      readonly nodes: readonly RedisNode[];
    }
  | {
      readonly kind: "cluster";
      readonly nodes: readonly RedisNode[];
      readonly tls: boolean;
      readonly username?: string;
      readonly password?: string;
    };

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/**
 * Where a URL leads.
 *
 * - `redis://[user[:password]@]host:port[/db]` is one server.
 * - Several of them with commas between are nodes of one cluster: `redis://a:7000,redis://b:7001`, or shorter
 *   `redis://user:password@a:7000,b:7001`. Scheme, user and password of the first are those of all.
 * - `redis://host:port?cluster=true` is a cluster that has one address, such as a Service or a configuration endpoint.
 *
 * `rediss://` instead of `redis://` is TLS. A comma in a password is written `%2C` where there are several nodes.
 *
 * @throws UnfitRedisError when it can mean nothing, with what to write; the message shows no password.
 */
export function parseRedisUrl(text: string): RedisAddress {
  // A comma with an @ behind it may be part of a password, unless another URL begins there.
  const [first = "", ...others] = text.trim().split(/,\s*(?=rediss?:\/\/|[^@]*$)/);
  const primary = parsePart(first, "");
  const cluster = primary.searchParams.get("cluster");
  if (others.length === 0 && (cluster === null || cluster === "false")) {
    refuseLogin(primary);
    primary.searchParams.delete("cluster");
    const url = cluster === null ? first : primary.href;
    return { kind: "server", url, host: primary.host, nodes: [nodeOf(primary)] };
  }
  const parts = [primary, ...others.map((part) => parsePart(part, `${primary.protocol}//`))];
  for (const part of parts) refuseContradiction(part, primary);
  const [username, password] = [primary.username, primary.password].map(decodeURIComponent);
  return {
    kind: "cluster",
    nodes: parts.map(nodeOf),
    tls: primary.protocol === "rediss:",
    ...(username && { username }),
    ...(password && { password }),
  };
}

/** Whether a host, as a URL has it, is the machine itself. */
export const isLoopbackHost = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);

/** The client takes them from there, too; but nobody looks there who takes a password out of a URL. */
function refuseLogin(url: URL): void {
  if (![...url.searchParams.keys()].some((name) => /user|pass|auth/i.test(name))) return;
  throw new UnfitRedisError(
    "The URL of Redis has a user or password among its parameters. Write redis://user:password@host:6379, or the password " +
      "into a file (DROVER_REDIS_PASSWORD_FILE).",
  );
}

const encoding = "In a user or password write % as %25, / as %2F, ? as %3F, # as %23 and @ as %40.";

function parsePart(text: string, scheme: string): URL {
  const url = URL.parse(/^\w+:\/\//.test(text) ? text : scheme + text);
  if (url === null && /^rediss?:\/\/[^]*@/.test(text)) {
    throw new UnfitRedisError(`The URL of Redis cannot be read, though it has an @. ${encoding}`);
  }
  if (url !== null && /@/.test(url.pathname + url.search + url.hash)) {
    // What stands before it would be taken for host and port, and be shown.
    throw new UnfitRedisError(`The URL of Redis has an @ behind its host. ${encoding}`);
  }
  if (url !== null && ![url.username, url.password].every(isDecodable)) {
    throw new UnfitRedisError(
      `The user or password in the URL of Redis has a % that is not encoded. ${encoding}`,
    );
  }
  if (url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== "") return url;
  throw new UnfitRedisError(
    "This is no URL of a Redis. Give one such as redis://127.0.0.1:6379, or those of a cluster's nodes with commas " +
      "between: redis://a:7000,redis://b:7000,redis://c:7000",
  );
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function refuseContradiction(part: URL, first: URL): void {
  const refuse = (what: string): never => {
    throw new UnfitRedisError(`The URL of the Redis Cluster node ${part.host} ${what}`);
  };
  if (part.protocol !== first.protocol) refuse(`is not of the scheme ${first.protocol}// as the first is.`);
  if (!["", "/", "/0"].includes(part.pathname)) {
    refuse(`names database ${part.pathname.slice(1)}; a cluster has only 0. Leave it out.`);
  }
  if (part.username + part.password !== "") {
    const same = part.username === first.username && part.password === first.password;
    if (!same) refuse("has another user or password than the first. All nodes need the same.");
  }
  for (const [name, value] of part.searchParams) {
    const fine = name === "cluster" && value === "true";
    if (!fine) refuse(`has the parameter ${name}; only cluster=true has a meaning there.`);
  }
}

const nodeOf = ({ hostname, port }: URL): RedisNode => ({
  host: hostname.replace(/^\[|\]$/g, ""),
  port: port === "" ? 6379 : Number(port),
});
