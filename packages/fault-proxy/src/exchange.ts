import { messageOf } from "@drover/controller";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Call } from "./call.ts";
import { type Entry, answeredObject } from "./record.ts";
import type { Forwarded, OpenUpstream } from "./upstream.ts";
import { written } from "./written.ts";

/** One process behind a door; what dies is told nothing any more. */
export interface Life {
  readonly number: number;
  isOver: boolean;
}

export type OpenEntry = { -readonly [Field in keyof Entry]: Entry[Field] };

/** One call with its two ends, and what is noted of it. */
export interface Exchange {
  readonly call: Call;
  readonly entry: OpenEntry;
  readonly life: Life;
  readonly forwarded: Forwarded;
  readonly response: ServerResponse;
  /** To be called when it is certain what the client is told: an answer begins, or none will come. */
  readonly answered: (client: NonNullable<Entry["client"]>) => void;
}

/** Nothing is answered, and nothing ends. */
export const hang = ({ answered }: Exchange): void => answered("hung");

export function reset({ answered, response }: Exchange): void {
  answered("reset");
  response.socket?.resetAndDestroy();
}

/** What the server begins to answer; undefined when it cannot be reached, which the client feels too. */
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
  // What was to change something is carried out, whoever has gone: so it is known what became of it.
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

/** The whole of an answer, as far as it comes, with what is noted of it. */
export async function whole({ call, entry }: Exchange, from: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of from) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  } catch {
    // The server broke it off; what it had done is known by its status.
  }
  const body = Buffer.concat(chunks);
  noteObject(call, entry, from, body);
  return body;
}

/** Begins the answer that the server gives. */
export function begin({ response, answered }: Exchange, from: IncomingMessage): void {
  const status = from.statusCode ?? 0;
  response.writeHead(status, from.statusMessage, endToEnd(from.rawHeaders));
  answered(status);
}

/** An answer as it comes. */
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
    // The server broke it off, and so do we.
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

/** Those of a single connection, which end at the proxy (RFC 9110, 7.6.1). */
const hopByHop =
  /^(connection|keep-alive|proxy-connection|proxy-authenticate|proxy-authorization|te|trailer|transfer-encoding|upgrade|expect)$/i;

/** Headers for the other side, in the order and the spelling in which they came. `without`: more that stay here. */
export function endToEnd(raw: readonly string[], without?: RegExp): string[] {
  return raw.filter((_, i) => {
    const name = raw[i - (i % 2)] ?? "";
    return !hopByHop.test(name) && without?.test(name) !== true;
  });
}
