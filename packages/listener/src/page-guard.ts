import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isLoopback, plainAddress } from "./loopback.ts";

/** How a listener tells requests of web pages from those of programs. */
export interface PageGuard {
  /**
   * `everywhere`: every request is checked. `loopback`: only requests that reach an address of loopback; elsewhere, in a
   * Pod, probes and scrapers use addresses and names that the process does not know.
   */
  readonly where: "everywhere" | "loopback";
  /**
   * Host names under which the listener may be asked for, without port, beside loopback's and the literal address that
   * the connection came to. `any`: the `Host` header is not compared, for listeners that get only signed requests.
   */
  readonly hosts?: readonly string[] | "any";
}

type Headers = Pick<IncomingMessage, "headersDistinct"> & {
  readonly socket: Pick<IncomingMessage["socket"], "localAddress">;
};

/**
 * Why a request may come from a web page; undefined when it does not.
 *
 * Browsers let no page choose these headers. `Origin` is on every POST, and on every cross-origin request whose answer a
 * page may read (https://fetch.spec.whatwg.org/#origin-header). `Sec-Fetch-Site` is on all requests to loopback
 * (https://w3c.github.io/webappsec-fetch-metadata/). Under DNS rebinding a page is of the same origin and has neither, but
 * `Host` is then the page's own name: an attacker can point a name at loopback, and not an address.
 */
export function pageProblem(request: Headers, { where, hosts = [] }: PageGuard): string | undefined {
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

/** At most so much of a header is repeated in a message. */
const longest = 100;
const shown = (text: string): string => JSON.stringify(text.slice(0, longest));

/** Answers a refused request; `problem` is a part of a sentence. */
export type Refuse = (response: ServerResponse, problem: string) => void;

/**
 * A handler that refuses requests of web pages before it reads their bodies, and closes their connections.
 *
 * @param refuse writes an answer with the status 403; by default in plain text.
 */
export function guarded(
  handle: RequestListener,
  guard: PageGuard,
  refuse: Refuse = refuseInText,
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

/** The words of every refusal: after the problem, a way out. */
export const refusalOf = (problem: string): string =>
  `Refused: ${problem}. Ask from a program, not from a web page, at the address that the process logs, such as ` +
  "http://127.0.0.1:8080 or http://localhost:8080.";

export const refuseInText: Refuse = (response, problem) => {
  response.writeHead(403, { "content-type": "text/plain; charset=utf-8" }).end(`${refusalOf(problem)}\n`);
};
