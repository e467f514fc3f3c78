import type { IncomingMessage } from "node:http";
import type { ProxiedCall } from "./proxied-call.ts";
import {
  forwardCall,
  beginResponse,
  type Exchange,
  hang,
  passBody,
  reset,
  readResponseBody,
} from "./exchange.ts";
import type { CallFault, FaultDecider, SpoiledList } from "../plan/faults.ts";
import { passWatch, type PassWatchOptions } from "../responses/pass-watch.ts";
import { eventRecord } from "./call-record.ts";
import { spoiledLists, type SpoiledLists } from "../responses/spoiled-lists.ts";
import type { OpenUpstream } from "../upstream.ts";
import { sendGarbage, sendJson, sendStatus } from "../responses/wrong-responses.ts";

export interface ServeOptions extends Pick<PassWatchOptions, "sleep" | "pieces" | "running"> {
  readonly upstream: OpenUpstream;
  readonly views: ReadonlyMap<string, OpenUpstream>;
  readonly decider: FaultDecider;
  readonly authorize?: (call: ProxiedCall) => object | undefined;
  readonly onKill: (call: ProxiedCall, when: "before" | "after") => void;
}

/** Answers a call: with its fault if the decider chooses one, else as the server does. */
export function callHandler(serving: ServeOptions): (exchange: Exchange) => Promise<void> {
  const { upstream, views, decider, authorize, sleep } = serving;
  const lists = spoiledLists();

  const serveWithFault = async (exchange: Exchange, fault: CallFault | undefined): Promise<void> => {
    if (exchange.clientProcess.hasEnded) hang(exchange);
    else if (fault !== undefined) await inject(exchange, fault);
    else if (lists.isMadeUp(exchange.call)) sendRefusal(exchange, { status: 410 });
    else await pass(serving, exchange, upstream);
  };
  const inject = async (exchange: Exchange, fault: CallFault): Promise<void> => {
    switch (fault.do) {
      case "refuse":
        sendRefusal(exchange, fault);
        break;
      case "delay":
        await sleep(fault.for);
        return serveWithFault(exchange, fault.then);
      case "reset":
        reset(exchange);
        break;
      case "hang":
        hang(exchange);
        break;
      case "lose answer":
        if (await carriedOut(exchange, upstream)) reset(exchange);
        break;
      case "hang after":
        if (await carriedOut(exchange, upstream)) hang(exchange);
        break;
      case "repeat":
        return repeat(serving, exchange);
      case "kill":
        return kill(serving, exchange, fault.when);
      case "stale":
        return pass(serving, exchange, viewNamed(views, fault.view));
      case "garbage":
        exchange.onAnswered(200);
        sendGarbage(exchange.response, fault.of);
        break;
      case "spoil list":
        return spoil(serving, lists, exchange, fault);
    }
  };
  return async (exchange) => {
    if (exchange.clientProcess.hasEnded) return serveWithFault(exchange, undefined);
    const refusal = authorize?.(exchange.call);
    if (refusal !== undefined) {
      forbid(exchange, refusal);
      return;
    }
    const fault = decider.ofCall(exchange.call);
    if (fault !== undefined) exchange.entry.fault = fault;
    return serveWithFault(exchange, fault);
  };
}

async function spoil(
  serving: ServeOptions,
  lists: SpoiledLists,
  exchange: Exchange,
  fault: SpoiledList,
): Promise<void> {
  const { call, response, onAnswered } = exchange;
  const { upstream } = serving;
  if (call.verb !== "list") return pass(serving, exchange, upstream, fault.how);
  if (fault.how === "expired") {
    sendRefusal(exchange, { status: 410 });
    return;
  }
  const page = await lists.spoil(fault, call, async () => {
    const from = await forwardCall(exchange, upstream);
    return from && { status: from.statusCode ?? 0, body: await readResponseBody(exchange, from) };
  });
  if (page === undefined) return;
  if (exchange.clientProcess.hasEnded) {
    hang(exchange);
    return;
  }
  onAnswered(page.status);
  sendJson(response, page.status, page.body);
}

/** Answers as the server would if it had authorization. The record shows this as the server's answer. */
function forbid({ entry, response, onAnswered }: Exchange, refusal: object): void {
  entry.server = { status: 403 };
  onAnswered(403);
  sendJson(response, 403, JSON.stringify(refusal));
}

function sendRefusal(
  { entry, response, onAnswered }: Exchange,
  refusal: Parameters<typeof sendStatus>[1],
): void {
  const retryAfter = sendStatus(response, refusal);
  if (retryAfter !== undefined) entry.retryAfter = retryAfter;
  onAnswered(refusal.status);
}

/** Forwards the call, and reads the complete answer without passing it on. Returns false if there is none. */
async function carriedOut(exchange: Exchange, upstream: OpenUpstream): Promise<boolean> {
  const from = await forwardCall(exchange, upstream);
  if (from === undefined) return false;
  await readResponseBody(exchange, from);
  return true;
}

/** Sends a call twice, and passes the second answer on. A body that is streamed can be sent only once. */
async function repeat(serving: ServeOptions, exchange: Exchange): Promise<void> {
  const { entry, forwarded } = exchange;
  const { upstream } = serving;
  if (Buffer.isBuffer(forwarded.body) && !(await carriedOut(exchange, upstream))) return;
  const { committed } = entry;
  await pass(serving, exchange, upstream);
  if (committed === true) entry.committed = true;
}

async function kill(serving: ServeOptions, exchange: Exchange, when: "before" | "after"): Promise<void> {
  if (when === "after") await carriedOut(exchange, serving.upstream);
  exchange.clientProcess.hasEnded = true;
  hang(exchange);
  serving.onKill(exchange.call, when);
}

function viewNamed(views: ReadonlyMap<string, OpenUpstream>, name: string): OpenUpstream {
  const view = views.get(name);
  if (view !== undefined) return view;
  const known = [...views.keys()].join(", ");
  throw new Error(`The proxy has no view ${JSON.stringify(name)}; it has: ${known || "none"}.`);
}

async function pass(
  serving: ServeOptions,
  exchange: Exchange,
  upstream: OpenUpstream,
  end?: SpoiledList["how"],
): Promise<void> {
  const { call, clientProcess, response } = exchange;
  const from = await forwardCall(exchange, upstream);
  if (from === undefined) return;
  if (clientProcess.hasEnded) {
    // The answer is read nevertheless, to record what the server did.
    await readResponseBody(exchange, from);
    hang(exchange);
    return;
  }
  beginResponse(exchange, from);
  if (!isWatch(call, from)) return passBody(exchange, from);
  response.flushHeaders();
  const { decider } = serving;
  await passWatch({
    ...serving,
    call,
    from,
    to: response,
    end,
    hasEnded: () => clientProcess.hasEnded,
    fault(event) {
      const fault = decider.ofEvent?.(event, call);
      if (fault !== undefined) exchange.entry.events = [...exchange.entry.events, eventRecord(event, fault)];
      return fault;
    },
  });
}

/** True for a watch in lines of JSON. A watch in protobuf passes unchanged, and meets no faults of events. */
const isWatch = ({ verb }: ProxiedCall, { statusCode, headers }: IncomingMessage): boolean =>
  verb === "watch" && statusCode === 200 && headers["content-type"]?.startsWith("application/json") === true;
