import { messageOf } from "@drover/controller";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Call } from "./call.ts";
import { type Entry, answeredObject } from "./record.ts";
import type { Forwarded, OpenUpstream } from "./upstream.ts";
import { written } from "./written.ts";

/** One client process behind a door. Once it is over, nothing more is answered to it. */
export interface Life {
  readonly number: number;
  isOver: boolean;
}

export type OpenEntry = { -readonly [Field in keyof Entry]: Entry[Field] };

/** One call: the request to forward, the response to the client, and the entry in the record. */
export interface Exchange {
  readonly call: Call;
  readonly entry: OpenEntry;
  readonly life: Life;
  readonly forwarded: Forwarded;
  readonly response: ServerResponse;
  /** To be called when the client's result is certain: an answer begins, or none will come. */
  readonly answered: (client: NonNullable<Entry["client"]>) => void;
}

/** Sends no answer, and leaves the connection open. */
export const hang = ({ answered }: Exchange): void => answered("hung");

export function reset({ answered, response }: Exchange): void {
  answered("reset");
  response.socket?.resetAndDestroy();
}

/**
 * Forwards the call, and returns the server's response when its headers have arrived. Undefined if the client has gone,
 * or if the server cannot be reached, which resets the client's connection.
 */
export async function asked(
  exchange: Exchange,
  upstream: OpenUpstream,
): Promise<IncomingMessage | undefined> {
  const { call, entry, response, forwarded, answered } = exchange;
  const broken = new AbortController();
  const isGone = (): boolean => !call.isWrite && response.destroyed;
  if (isGone()) {
    answered("gone");
    return undefined;
  }
  // A write is carried out even if the client has gone, so that its result is known.
  if (!call.isWrite) response.once("close", () => broken.abort());
  delete entry.committed;
  try {
    const from = await upstream.forward(forwarded, broken.signal);
    const status = from.statusCode ?? 0;
    entry.server = { status };
    if (call.isWrite) entry.committed = status >= 200 && status < 300;
    return from;
  } catch (error) {
    if (isGone()) answered("gone");
    else {
      entry.problem = `the server cannot be reached: ${messageOf(error)}`;
      reset(exchange);
    }
    return undefined;
  }
}

/** Reads a response to its end, or to where it breaks off, and adds its object to the record. */
export async function whole({ call, entry }: Exchange, from: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of from) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  } catch {
    // The server broke the response off. Its status still shows if the write was committed.
  }
  const body = Buffer.concat(chunks);
  noteObject(call, entry, from, body);
  return body;
}

/** Sends the server's status and headers to the client. */
export function begin({ response, answered }: Exchange, from: IncomingMessage): void {
  const status = from.statusCode ?? 0;
  response.writeHead(status, from.statusMessage, endToEnd(from.rawHeaders));
  answered(status);
}

/** Passes a response on as it arrives. */
export async function passBody(exchange: Exchange, from: IncomingMessage): Promise<void> {
  const { call, entry, response, life } = exchange;
  const kept: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of from) {
      if (!Buffer.isBuffer(chunk) || response.destroyed) break;
      if (life.isOver) return;
      if ((size += chunk.length) <= small) kept.push(chunk);
      await written(response, chunk);
    }
  } catch {
    // The server broke the response off, so the proxy does the same.
    response.destroy();
    return;
  }
  if (size <= small) noteObject(call, entry, from, Buffer.concat(kept));
  response.end();
}

const small = 2 ** 20;

function noteObject(call: Call, entry: OpenEntry, from: IncomingMessage, body: Buffer): void {
  const isOne = call.resource !== "" && (call.isWrite || call.verb === "get");
  const isJson = from.headers["content-type"]?.startsWith("application/json") === true;
  const object = isOne && isJson ? answeredObject(body.toString()) : undefined;
  if (object !== undefined && entry.server !== undefined) entry.server = { ...entry.server, object };
}

/** Headers of a single connection, which end at the proxy (RFC 9110, 7.6.1). */
const hopByHop =
  /^(connection|keep-alive|proxy-connection|proxy-authenticate|proxy-authorization|te|trailer|transfer-encoding|upgrade|expect)$/i;

/**
 * Headers for the other side, in the order and the spelling in which they came. `without`: more that are not passed on.
 */
export function endToEnd(raw: readonly string[], without?: RegExp): string[] {
  return raw.filter((_, i) => {
    const name = raw[i - (i % 2)] ?? "";
    return !hopByHop.test(name) && without?.test(name) !== true;
  });
}
