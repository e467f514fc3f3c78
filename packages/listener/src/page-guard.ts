import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isLoopback, plainAddress } from "./loopback.ts";

/** How a listener distinguishes requests of web pages from those of programs. */
export interface PageGuard {
  /**
   * `everywhere`: every request is checked. `loopback`: only requests to a loopback address are checked; elsewhere, in
   * a Pod, probes and scrapers use addresses and names that are not known in advance.
   */
  readonly where: "everywhere" | "loopback";
  /**
   * Accepted host names, without port, in addition to those of loopback and the literal address of the connection's
   * local end. `any`: the `Host` header is not compared, for listeners that accept only signed requests.
   */
  readonly hosts?: readonly string[] | "any";
}

type GuardedRequest = Pick<IncomingMessage, "headersDistinct"> & {
  readonly socket: Pick<IncomingMessage["socket"], "localAddress">;
};

/**
 * Why a request may come from a web page; undefined if it does not.
 *
 * Browsers do not let pages choose these headers. `Origin` is in every POST, and in every cross-origin request with an
 * answer that a page may read (https://fetch.spec.whatwg.org/#origin-header). `Sec-Fetch-Site` is in all requests to
 * loopback (https://w3c.github.io/webappsec-fetch-metadata/). Under DNS rebinding the page has the same origin as the
 * listener, and its requests may have neither. But `Host` then contains the page's own name: an attacker can point a
 * name at loopback, but not an address.
 */
export function pageProblem(request: GuardedRequest, { where, hosts = [] }: PageGuard): string | undefined {
  const { localAddress } = request.socket;
  const own = localAddress === undefined ? undefined : plainAddress(localAddress);
  if (where === "loopback" && own !== undefined && !isLoopback(own)) return undefined;
  const { origin, host = [], "sec-fetch-site": sites = [] } = request.headersDistinct;
  if (origin !== undefined) return "the request has an Origin header, so a web page sends it";
  const foreign = sites.find((site) => site !== "none" && site !== "same-origin");
  if (foreign !== undefined)
    return `the request has Sec-Fetch-Site: ${shown(foreign)}, so a web page of another site sends it`;
  if (hosts === "any" || isOwnHost(host, own, hosts)) return undefined;
  return `the Host header is ${shown(host.join(", "))}, which is not an address of this listener`;
}

function isOwnHost(given: readonly string[], own: string | undefined, hosts: readonly string[]): boolean {
  const [host = "", ...more] = given;
  const [, bracketed, plain] = /^(?:\[([\da-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  const name = (bracketed ?? plain ?? "").toLowerCase();
  if (more.length > 0 || name === "") return false;
  return isLoopback(name) || name === own || hosts.includes(name);
}

/** Maximum number of characters of a header in a message. */
const maxShownLength = 100;
const shown = (text: string): string => JSON.stringify(text.slice(0, maxShownLength));

/** Writes the answer to a refused request; `problem` is a part of a sentence. */
export type SendRefusal = (response: ServerResponse, problem: string) => void;

/**
 * A handler that refuses requests of web pages before it reads their bodies, and closes their connections.
 *
 * @param refuse writes an answer with the status 403. Default: in plain text.
 */
export function withPageGuard(
  handle: RequestListener,
  guard: PageGuard,
  refuse: SendRefusal = sendTextRefusal,
): RequestListener {
  return (request, response) => {
    const problem = pageProblem(request, guard);
    if (problem === undefined) {
      handle(request, response);
      return;
    }
    response.setHeader("connection", "close");
    refuse(response, problem);
  };
}

/** The text of every refusal: the problem, and then what to do. */
export const refusalMessage = (problem: string): string =>
  `Refused: ${problem}. Ask from a program, not from a web page, at the address that the process logs, such as ` +
  "http://127.0.0.1:8080 or http://localhost:8080.";

export const sendTextRefusal: SendRefusal = (response, problem) => {
  response
    .writeHead(403, { "content-type": "text/plain; charset=utf-8" })
    .end(`${refusalMessage(problem)}\n`);
};
