/** First bytes of answers that are not from Redis: of an HTTP response, and of a TLS alert. */
const firstBytes: Readonly<Record<string, string>> = {
  "72": "an HTTP server answers there. Give the port of Redis.",
  "21": "it answers with TLS. Write rediss:// in its URL.",
};

/**
 * Advice on a port that answers, but not as Redis does over this kind of connection; undefined for other errors. The
 * answer is not shown.
 */
export function wrongPortAdvice(error: Error): string | undefined {
  const [, type] = /^Unknown RESP type (\d+)/.exec(error.message) ?? [];
  if (type !== undefined) return firstBytes[type] ?? "the server there is not Redis. Give the port of Redis.";
  if (!("code" in error) || !/^(ERR_SSL_|EPROTO$)/.test(String(error.code))) return undefined;
  return /WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST|UNEXPECTED_MESSAGE/.test(String(error.code))
    ? "it answers without TLS. Give its port for TLS, or write redis:// in its URL."
    : "the TLS handshake failed. Check its certificates and the versions of TLS that it offers.";
}

/**
 * Advice on a server that sends nothing, or closes every connection before it sends anything. It may also be starting
 * or away, so use this only after the wait for it is over.
 */
export const noAnswerAdvice = (isTls: boolean): string =>
  isTls
    ? "no answer over TLS; if its port has no TLS, write redis:// in its URL"
    : "it closes every connection without an answer; if its port uses TLS, write rediss:// in its URL";
