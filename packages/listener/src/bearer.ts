import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** A new token that cannot be guessed: 32 random bytes as hexadecimal digits. */
export const newToken = (): string => randomBytes(32).toString("hex");

/** The token of `Authorization: Bearer ...`; undefined if the request has none, or more than one such header. */
export function bearerTokenOf({
  headersDistinct,
}: Pick<IncomingMessage, "headersDistinct">): string | undefined {
  const [header = "", ...more] = headersDistinct["authorization"] ?? [];
  // The syntax of RFC 6750, section 2.1.
  return more.length > 0 ? undefined : /^Bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
}

/**
 * A kubeconfig's `server` with the token as the first segment of its path. client-go, and so kubectl, sends no bearer
 * token without TLS (`IsConfigTransportTLS`), and Node's fetch accepts no URL with a password; all clients keep a path.
 */
export const serverWithToken = (url: string, token: string): string => `${url}/${token}`;

/** True if a request has the token, as bearer token or as first segment of its path, which is then removed. */
export function verifyToken(request: IncomingMessage, token: string): boolean {
  const bearer = bearerTokenOf(request);
  const [, given = "", path = ""] = /^\/([^/?]+)(.*)$/s.exec(request.url ?? "") ?? [];
  const isInPath = isSameToken(given, token);
  if (isInPath) request.url = path.startsWith("/") ? path : `/${path}`;
  return isInPath || (bearer !== undefined && isSameToken(bearer, token));
}

/** Compares in a time that reveals nothing about either token: digests have one length, and are compared completely. */
export const isSameToken = (given: string, expected: string): boolean =>
  timingSafeEqual(digest(given), digest(expected));

const digest = (token: string): Buffer => createHash("sha256").update(token).digest();
