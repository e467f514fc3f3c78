import {
  type Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { Target } from "./target.ts";

/** A complete HTTP response, with any status. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/**
 * No complete reply came, or the reply was not read. The message describes what happened. Neither the message nor a
 * cause contains bytes of the reply: they may not come from the function, and Node's parser puts them into its errors.
 */
export class NoReplyError extends Error {
  override readonly name = "NoReplyError";

  /** True if the connection failed, so that nothing was sent. */
  readonly isUnsent: boolean;

  constructor(message: string, isUnsent = false) {
    super(message);
    this.isUnsent = isUnsent;
  }
}

export interface PostOptions {
  readonly target: Target;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Maximum size of the reply's body in bytes. */
  readonly most: number;
  readonly agent: Agent;
  readonly signal: AbortSignal;
}

/**
 * Sends one POST to the address that was checked. Follows no redirect, repeats nothing, and decompresses nothing.
 * @throws NoReplyError, or the signal's reason.
 */
export async function post({ target, headers, body, most, agent, signal }: PostOptions): Promise<Reply> {
  signal.throwIfAborted();
  const { url, address } = target;
  const isTls = url.protocol === "https:";
  const sent = (isTls ? requestHttps : requestHttp)({
    method: "POST",
    agent,
    signal,
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    path: url.pathname,
    headers: { ...headers, "content-length": String(body.byteLength), "accept-encoding": "identity" },
    lookup: (_host, options, callback) => {
      const family = isIP(address);
      if (options.all) callback(null, [{ address, family }]);
      else callback(null, address, family);
    },
  });
  try {
    const reply = replyTo(sent);
    sent.end(body);
    return await read(await reply, most);
  } catch (error) {
    sent.destroy();
    signal.throwIfAborted();
    throw error instanceof NoReplyError
      ? error
      : new NoReplyError(describeError(error), isConnectionRefused(error));
  }
}

function replyTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.on("response", resolve);
    sent.on("error", reject);
    sent.on("upgrade", () => reject(new NoReplyError("it requested an upgrade to another protocol")));
  });
}

async function read(reply: IncomingMessage, most: number): Promise<Reply> {
  const { statusCode: status = 0, headers } = reply;
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw new NoReplyError("its answer is compressed, but the call accepts only identity");
  }
  if (Number(headers["content-length"] ?? 0) > most) throw tooLargeError(most);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const pieces: AsyncIterable<Uint8Array> = reply;
  for await (const piece of pieces) {
    size += piece.byteLength;
    if (size > most) throw tooLargeError(most);
    chunks.push(piece);
  }
  return { status, headers, body: Buffer.concat(chunks) };
}

const tooLargeError = (most: number): NoReplyError =>
  new NoReplyError(`its answer has more than ${most} bytes`);

/** True for the errors of a Service without a Pod: it refuses connections (kube-proxy), or rejects them. */
const isConnectionRefused = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["ECONNREFUSED", "EHOSTUNREACH"].includes(String(error.code));

/** The message for an error of the system or of Node. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : error.name;
  switch (code) {
    case "ECONNREFUSED":
      return "the connection was refused";
    case "ECONNRESET":
    case "EPIPE":
      return "the connection broke before its answer was complete";
    default:
      return `no valid HTTP response was received (${code})`;
  }
}
