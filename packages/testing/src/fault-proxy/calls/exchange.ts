import { messageOf } from "@drover/controller";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ProxiedCall } from "./proxied-call.ts";
import { type CallRecord, parseResponseObject } from "./call-record.ts";
import type { ForwardedRequest, OpenUpstream } from "../upstream.ts";
import { writeChunk } from "../responses/write-chunk.ts";

/** One client process. Once it has ended, nothing more is answered to it. */
export interface ClientProcess {
  readonly number: number;
  hasEnded: boolean;
}

export type MutableCallRecord = { -readonly [Field in keyof CallRecord]: CallRecord[Field] };

/** One call: the request to forward, the response to the client, and the entry in the record. */
export interface Exchange {
  readonly call: ProxiedCall;
  readonly entry: MutableCallRecord;
  readonly clientProcess: ClientProcess;
  readonly forwarded: ForwardedRequest;
  readonly response: ServerResponse;
  /** To be called when the client's result is certain: an answer begins, or none will come. */
  readonly onAnswered: (client: NonNullable<CallRecord["client"]>) => void;
}

/** Sends no answer, and leaves the connection open. */
export const hang = ({ onAnswered }: Exchange): void => onAnswered("hung");

export function reset({ onAnswered, response }: Exchange): void {
  onAnswered("reset");
  response.socket?.resetAndDestroy();
}

/**
 * Forwards the call, and returns the server's response when its headers have arrived. Undefined if the client has gone,
 * or if the server cannot be reached, which resets the client's connection.
 */
export async function forwardCall(
  exchange: Exchange,
  upstream: OpenUpstream,
): Promise<IncomingMessage | undefined> {
  const { call, entry, response, forwarded, onAnswered } = exchange;
  const broken = new AbortController();
  const isGone = (): boolean => !call.isWrite && response.destroyed;
  if (isGone()) {
    onAnswered("gone");
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
    if (isGone()) onAnswered("gone");
    else {
      entry.problem = `the server cannot be reached: ${messageOf(error)}`;
      reset(exchange);
    }
    return undefined;
  }
}

/** Reads a response to its end, or to where it breaks off, and adds its object to the record. */
export async function readResponseBody({ call, entry }: Exchange, from: IncomingMessage): Promise<Buffer> {
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
export function beginResponse({ response, onAnswered }: Exchange, from: IncomingMessage): void {
  const status = from.statusCode ?? 0;
  response.writeHead(status, from.statusMessage, endToEnd(from.rawHeaders));
  onAnswered(status);
}

/** Passes a response on as it arrives. */
export async function passBody(exchange: Exchange, from: IncomingMessage): Promise<void> {
  const { call, entry, response, clientProcess } = exchange;
  const kept: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of from) {
      if (!Buffer.isBuffer(chunk) || response.destroyed) break;
      if (clientProcess.hasEnded) return;
      if ((size += chunk.length) <= small) kept.push(chunk);
      await writeChunk(response, chunk);
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

function noteObject(call: ProxiedCall, entry: MutableCallRecord, from: IncomingMessage, body: Buffer): void {
  const isOne = call.resource !== "" && (call.isWrite || call.verb === "get");
  const isJson = from.headers["content-type"]?.startsWith("application/json") === true;
  const object = isOne && isJson ? parseResponseObject(body.toString()) : undefined;
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
