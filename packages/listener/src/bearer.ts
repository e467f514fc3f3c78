import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** A token that cannot be guessed: 32 random bytes as hexadecimal digits. */
export const newToken = (): string => randomBytes(32).toString("hex");

/** The token of `Authorization: Bearer ...`; undefined when the request has none, or more than one header. */
export function bearerOf({ headersDistinct }: Pick<IncomingMessage, "headersDistinct">): string | undefined {
  const [header = "", ...more] = headersDistinct["authorization"] ?? [];
  // The syntax of RFC 6750, section 2.1.
  return more.length > 0 ? undefined : /^Bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
}

/**
 * The token as `bearerOf`, or as the password of `Authorization: Basic ...`. client-go, and so kubectl, sends no bearer
 * token without TLS (`IsConfigTransportTLS`), but it does send the user information of a server's URL: `withToken`.
 */
export function tokenOf(request: Pick<IncomingMessage, "headersDistinct">): string | undefined {
  const [header = "", ...more] = request.headersDistinct["authorization"] ?? [];
  const basic = more.length > 0 ? undefined : /^Basic +([\w+/-]+=*)$/i.exec(header)?.[1];
  return basic === undefined
    ? bearerOf(request)
    : /^[^:]*:(.*)$/s.exec(Buffer.from(basic, "base64").toString())?.[1];
}

/** A kubeconfig's `server` without TLS, from which every client sends the token. */
export function withToken(url: string, token: string): string {
  const server = new URL(url);
  server.username = "drover";
  server.password = token;
  return server.href.replace(/\/$/, "");
}

/** Compares in a time that says nothing about either token: digests have one length, and are compared whole. */
export const isSameToken = (given: string, expected: string): boolean =>
  timingSafeEqual(digest(given), digest(expected));

const digest = (token: string): Buffer => createHash("sha256").update(token).digest();
