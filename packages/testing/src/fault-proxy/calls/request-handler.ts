import { messageOf } from "@drover/controller";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type ProxiedCall, parseCall } from "./proxied-call.ts";
import { endToEnd, type Exchange, type ClientProcess, type MutableCallRecord } from "./exchange.ts";
import type { CallRecord } from "./call-record.ts";
import { requestBody, valueOf } from "./request-body.ts";
import { sendStatus } from "../responses/wrong-responses.ts";

/** Adds each request to the record, and serves it. */
export function requestHandler(options: {
  readonly record: CallRecord[];
  readonly serve: (exchange: Exchange) => Promise<void>;
  readonly onEntry: (entry: CallRecord) => void;
  readonly rewrite: (call: ProxiedCall, url: string) => string;
}) {
  const { record, serve, onEntry, rewrite } = options;
  const take = async (
    clientProcess: ClientProcess,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const { method = "GET", url = "/" } = request;
    const body: Buffer | IncomingMessage = await requestBody(request);
    const call = parseCall({
      id: record.length + 1,
      life: clientProcess.number,
      method,
      url,
      body: valueOf(body, request.headers["content-type"]),
    });
    const entry: MutableCallRecord = {
      at: Date.now(),
      call,
      events: [],
      ...(call.isWrite ? { committed: false } : {}),
    };
    record.push(entry);
    const headers = call.resource === "" ? endToEnd(request.rawHeaders) : readable(request.rawHeaders);
    const onAnswered = (client: NonNullable<CallRecord["client"]>): void => {
      entry.client = client;
      onEntry(entry);
    };
    const forwarded = { method, path: rewrite(call, url), headers, body };
    await serve({ call, entry, clientProcess, forwarded, response, onAnswered }).catch((error: unknown) => {
      entry.problem = messageOf(error);
      if (response.headersSent) {
        response.destroy();
        return;
      }
      sendStatus(response, { status: 500, message: entry.problem });
      onAnswered(500);
    });
  };
  return (clientProcess: ClientProcess, request: IncomingMessage, response: ServerResponse): void => {
    response.on("error", () => undefined);
    take(clientProcess, request, response).catch(() => response.destroy());
  };
}

/**
 * The headers for an API server, with answers that the proxy can read: a client that accepts JSON gets JSON,
 * uncompressed, as from a server that supports nothing else.
 */
function readable(raw: readonly string[]): string[] {
  return endToEnd(raw, /^accept-encoding$/i).map((part, i, all) =>
    i % 2 === 1 && /^accept$/i.test(all[i - 1] ?? "") ? withoutBinary(part) : part,
  );
}

function withoutBinary(accept: string): string {
  const all = accept.split(",");
  const text = all.filter((type) => !/protobuf|cbor/.test(type));
  return (text.length > 0 ? text : all).join(",");
}
