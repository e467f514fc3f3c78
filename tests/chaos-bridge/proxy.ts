import { freePort } from "@drover/local-servers";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { armedFaults, type ArmedFaults } from "./armed-faults.ts";
import { askedOf, withPagesOf } from "./asked-of.ts";
import type { DirectApi } from "./direct-api.ts";
import type { Answered, Asked, Verb } from "./facts.ts";
import { frameFaults, isEndOfList } from "./frame-faults.ts";
import type { Journal } from "./journal.ts";
import { isInsideList, listAnswers } from "./list-answers.ts";
import { passWatch, type ProxiedWatch } from "./proxied-watch.ts";
import { type EndOfStream, endsOfStreams, type FaultKind, type Schedule } from "./schedule.ts";
import { type Passed, tally, type Tally } from "./tally.ts";
import { instead, refuse } from "./wrong-answers.ts";

/** Stands between a bridge and the API server: plain HTTP here, the real server behind. Notes every request. */
export interface Proxy {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly faults: ArmedFaults;
  /** Ends the watches that run; false when none does. */
  endWatches(how: "end" | "reset" | "410"): boolean;
  /** Nobody listens any more; whoever is connected is cut off. */
  shut(): Promise<void>;
  open(): Promise<void>;
  readonly passing: Tally;
  /** Whether the bridge that runs now, or comes next, has asked for anything yet. */
  isAsked(): boolean;
  /** From now on it is another bridge that asks. */
  nextLife(): void;
  close(): Promise<void>;
}

export interface ProxyOptions {
  readonly api: DirectApi;
  /** The collection that faults are for. */
  readonly path: string;
  readonly journal: Journal;
  readonly schedule: Pick<Schedule, "page" | "pieces" | "watchList">;
}

/** Opens it on a port that stays its own, also while it is shut. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { path, journal } = options;
  const faults = armedFaults(journal);
  const running = new Set<ProxiedWatch>();
  let [life, lastAsked, requests] = [0, -1, 0];
  const passing = tally();
  const serve = server({ ...options, faults, running, passing });
  const door = await openDoor((request, response) => {
    const asked = { fact: "asked" as const, id: requests++, life, ...askedOf(request.url ?? "", path) };
    lastAsked = life;
    journal.note(asked);
    response.on("error", () => undefined);
    serve(asked, request, response).catch(() => response.destroy());
  });
  return {
    ...door,
    faults,
    endWatches(how) {
      const all = [...running];
      for (const watch of all) watch.end(how);
      return all.length > 0;
    },
    passing,
    isAsked: () => lastAsked === life,
    nextLife: () => (life += 1),
    close: () => door.shut(),
  };
}

/** Answers one request: with a fault where one is met, as the API server does otherwise. */
function server(
  options: ProxyOptions & {
    readonly faults: ArmedFaults;
    readonly running: Set<ProxiedWatch>;
    readonly passing: Tally;
  },
) {
  const { api, journal, schedule, faults, running, passing } = options;
  const frames = frameFaults();
  const lists = listAnswers(faults);
  const frameFault = () => faults.ofFrame()?.do;
  const onLine = (verb: Verb) => {
    let passes: Passed = verb === "stream" ? "page" : "event";
    return (line: string): void => {
      passing.add(passes);
      if (isEndOfList(line)) passes = "event";
    };
  };

  const pass = async (
    { request, response, verb, answered }: Exchange,
    end: EndOfStream | undefined,
  ): Promise<void> => {
    const from = await forwarded(api, request, response, schedule.page);
    const status = from.statusCode ?? 0;
    if (verb === "list" || verb === "page") passing.add("page");
    answered({ status });
    response.writeHead(status, headersOf(from));
    if (status !== 200 || (verb !== "watch" && verb !== "stream")) {
      response.end(await buffer(from));
      return;
    }
    response.flushHeaders();
    await passWatch({
      ...{ from, to: response, pieces: schedule.pieces, frames, fault: frameFault, end, running },
      onLine: onLine(verb),
    });
  };
  return async (asked: Asked, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { id, verb } = asked;
    const isUnknown = verb === "stream" && !schedule.watchList;
    const fault = isUnknown ? undefined : faults.ofRequest(verb);
    const answered = (said: Pick<Answered, "status" | "closedUntil">): void => {
      const cause = fault === undefined || fault.do === "expired" ? {} : { fault: fault.do };
      journal.note({ fact: "answered", id, ...said, ...cause });
    };
    const genuine = async () => {
      const from = await forwarded(api, request, response, schedule.page);
      return { status: from.statusCode ?? 0, body: await buffer(from) };
    };
    const end = verb === "stream" ? endOfStream(fault?.do) : undefined;
    if (isUnknown) answered(refuse(response, 422));
    else if (fault === undefined || end !== undefined) {
      if (lists.isMadeUp(asked)) answered(refuse(response, 410));
      else await pass({ request, response, verb, answered }, end);
    } else if (isInsideList(fault.do)) {
      const cycle = "cycle" in fault ? (fault.cycle ?? 0) : 0;
      await lists.spoil(fault.do, cycle, { asked, response, answered, genuine });
    } else answered(instead(fault, response));
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly verb: Verb;
  /** To be called when the answer begins. */
  readonly answered: (said: Pick<Answered, "status">) => void;
}

const endOfStream = (kind: FaultKind | "expired" | undefined): EndOfStream | undefined =>
  endsOfStreams.find((each) => each === kind);

/** What the API server answers, for as long as the bridge wants it. */
async function forwarded(
  api: DirectApi,
  request: IncomingMessage,
  response: ServerResponse,
  page: number,
): Promise<IncomingMessage> {
  const broken = new AbortController();
  response.once("close", () => broken.abort());
  const { method = "GET", url = "" } = request;
  const { accept, "content-type": type } = request.headers;
  const headers = {
    ...(accept === undefined ? {} : { accept }),
    ...(type === undefined ? {} : { "content-type": type }),
  };
  const path = method === "GET" ? withPagesOf(url, page) : url;
  return api.forward({ method, path, headers, body: await buffer(request) }, broken.signal);
}

function headersOf(from: IncomingMessage): Record<string, string> {
  const type = from.headers["content-type"];
  const retryAfter = from.headers["retry-after"];
  return {
    ...(type === undefined ? {} : { "content-type": type }),
    ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
  };
}

/** A server that can be shut and opened again at the same address. */
async function openDoor(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Pick<Proxy, "url" | "open" | "shut">> {
  const sockets = new Set<Socket>();
  const server = createServer(onRequest);
  server.keepAliveTimeout = 60_000;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const port = await freePort();
  const open = async (): Promise<void> => {
    for (let tries = 0; !server.listening; tries++) {
      server.listen(port, "127.0.0.1");
      // Somebody may have the port for a moment: who looks for a free one does.
      await once(server, "listening").catch(async (error: unknown) => {
        if (tries > 100) throw error;
        await delay(50);
      });
    }
  };
  await open();
  return {
    url: `http://127.0.0.1:${port}`,
    open,
    async shut() {
      const closed = server.listening ? once(server, "close") : Promise.resolve();
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
