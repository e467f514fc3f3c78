import { UnfitRedisError } from "./check-server.ts";

/** One server, or a cluster with some of its nodes; the client gets the others from these. */
export type RedisAddress =
  | {
      readonly kind: "server";
      readonly url: string;
      /** With its port; for messages. */
      readonly host: string;
      /** The server itself. */
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
 * The server or cluster that a URL leads to.
 *
 * - `redis://[user[:password]@]host:port[/db]` is one server.
 * - Several URLs separated by commas are nodes of one cluster: `redis://a:7000,redis://b:7001`, or shorter
 *   `redis://user:password@a:7000,b:7001`. Scheme, user and password of the first apply to all.
 * - `redis://host:port?cluster=true` is a cluster that has one address, such as a Service or a configuration endpoint.
 *
 * `rediss://` instead of `redis://` is TLS. With several nodes, a comma in a password is written `%2C`.
 *
 * @throws UnfitRedisError if the URL is not valid. The message gives the form to write, and shows no password.
 */
export function parseRedisUrl(text: string): RedisAddress {
  // A comma that an @ follows may be part of a password, unless another URL begins after the comma.
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

/** True if a host, as written in a URL, is this machine. */
export const isLoopbackHost = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);

/**
 * ioredis accepts a login in the parameters, too, but code that removes passwords from URLs does not look for it there.
 */
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
    throw new UnfitRedisError(
      `The URL of Redis is not valid, perhaps because of an unencoded character in its user or password. ${encoding}`,
    );
  }
  if (url !== null && /@/.test(url.pathname + url.search + url.hash)) {
    // The text before the @ would be parsed as host and port, and be shown in messages.
    throw new UnfitRedisError(`The URL of Redis has an @ after its host. ${encoding}`);
  }
  if (url !== null && ![url.username, url.password].every(isDecodable)) {
    throw new UnfitRedisError(
      `The user or password in the URL of Redis has a % that is not encoded. ${encoding}`,
    );
  }
  if (url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== "") return url;
  throw new UnfitRedisError(
    "This is not a URL of Redis. Give one such as redis://127.0.0.1:6379, or those of a cluster's nodes, separated by " +
      "commas: redis://a:7000,redis://b:7000,redis://c:7000",
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
  if (part.protocol !== first.protocol)
    refuse(`does not have the scheme ${first.protocol}// of the first URL.`);
  if (!["", "/", "/0"].includes(part.pathname)) {
    refuse(`names database ${part.pathname.slice(1)}; a cluster has only 0. Leave it out.`);
  }
  if (part.username + part.password !== "") {
    const same = part.username === first.username && part.password === first.password;
    if (!same) refuse("has another user or password than the first. All nodes need the same.");
  }
  for (const [name, value] of part.searchParams) {
    const fine = name === "cluster" && value === "true";
    if (!fine) refuse(`has the parameter ${name}; only cluster=true is allowed there.`);
  }
}

const nodeOf = ({ hostname, port }: URL): RedisNode => ({
  host: hostname.replace(/^\[|\]$/g, ""),
  port: port === "" ? 6379 : Number(port),
});
