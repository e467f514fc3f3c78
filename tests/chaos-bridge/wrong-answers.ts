import type { Milliseconds } from "@drover/controller";
import type { ServerResponse } from "node:http";
import { z } from "zod";
import { now } from "../chaos/clock.ts";
import type { Answered } from "./facts.ts";
import type { RequestFault, RequestFaultKind } from "./schedule.ts";

type Said = Pick<Answered, "status" | "closedUntil">;

/** Answers without the API server. `expired` is no fault of the schedule's: it makes the bridge ask for a list. */
export function instead(
  { do: kind, retryAfter }: { readonly do: RequestFaultKind | "expired"; readonly retryAfter?: RetryAfter },
  response: ServerResponse,
): Said {
  const [, what = "410"] = kind.split("-");
  if (/^\d{3}$/.test(what)) return refuse(response, Number(what), retryAfter);
  switch (what) {
    case "hang":
      return { status: 0 };
    case "html":
      response.writeHead(200, { "content-type": "text/html" }).end(html);
      return { status: 200 };
    case "garbage":
      response.writeHead(200, { "content-type": "application/json" }).end(garbage);
      return { status: 200 };
    case "closes":
      response.writeHead(200, { "content-type": "application/json" }).end();
      return { status: 200 };
    default:
      response.destroy();
      return { status: 0 };
  }
}

type RetryAfter = RequestFault["retryAfter"];

const reasons: Readonly<Record<number, string>> = {
  401: "Unauthorized",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
};

export const statusObject = (code: number): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: `this is a fault: ${reasons[code] ?? "unknown"}`,
  reason: reasons[code],
  code,
});

/** Sends a Status, and answers until when it asks to be left alone, on the clock of the facts. */
export function refuse(response: ServerResponse, status: number, retryAfter?: RetryAfter): Said {
  const { header, until } = asked(retryAfter);
  const headers = header === undefined ? {} : { "retry-after": header };
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(statusObject(status)));
  return { status, ...(until === undefined ? {} : { closedUntil: until }) };
}

function asked(retryAfter: RetryAfter): { header?: string; until?: Milliseconds } {
  if (retryAfter === undefined) return {};
  if (typeof retryAfter === "string") {
    return /^\d+$/.test(retryAfter)
      ? { header: retryAfter, until: now() + Number(retryAfter) * 1_000 }
      : { header: retryAfter };
  }
  // A date has whole seconds.
  const date = Math.floor(Date.now() / 1_000) * 1_000 + retryAfter.date * 1_000;
  return { header: new Date(date).toUTCString(), until: now() + date - Date.now() };
}

export const garbage = "\u0000\u0007}{ this is no JSON [[[";
export const html = "<!doctype html><html><body><h1>It works!</h1></body></html>";

const listSchema = z.looseObject({
  metadata: z.looseObject({}),
  items: z.array(z.looseObject({ metadata: z.looseObject({}) })).nullable(),
});
type List = z.infer<typeof listSchema>;

export const parsedList = (body: Buffer): List => listSchema.parse(JSON.parse(body.toString()));

export const withoutMetadata = (list: List): object => ({ ...list, metadata: undefined });

/** Half of the items have none; of an empty list, one that nobody made has none. */
export function withoutUids(list: List): object {
  const items = list.items ?? [];
  const nameless = items.length === 0 ? [{ metadata: {} }] : items;
  return {
    ...list,
    items: nameless.map((item, i) =>
      i % 2 === 0 ? { ...item, metadata: { ...item.metadata, uid: undefined } } : item,
    ),
  };
}

export const withContinue = (list: List, token: string): object => ({
  ...list,
  metadata: { ...list.metadata, continue: token },
});
