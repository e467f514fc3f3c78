import { isIP } from "node:net";

/** One entry of the operator's list: a scheme, a host or the end of one, and a port. */
export interface AllowedUrl {
  readonly protocol: "http:" | "https:";
  /** `hooks.example.com`, `.example.com` for all hosts with this end, or empty for all. */
  readonly host: string;
  readonly port: number;
}

/** An entry cannot be used, or a URL may not be called. The message has the remedy. */
export class UrlRefusedError extends Error {
  override readonly name = "UrlRefusedError";
}

/** @throws UrlRefusedError */
export function parseAllowed(words: readonly string[]): readonly AllowedUrl[] {
  return words.map((word) => {
    const [, scheme = "", host = "", port] =
      /^(https?):\/\/([^/:]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/.exec(word) ?? [];
    const suffix = host === "*" ? "" : host.replace(/^\*\./, ".");
    const isHost = suffix === "" ? host === "*" : isPlainHost(suffix.replace(/^\./, ""));
    if (!isHost) {
      throw new UrlRefusedError(
        `${JSON.stringify(word)} is not an origin; write https://hooks.example.com or https://*.example.com:8443`,
      );
    }
    const protocol = scheme === "https" ? "https:" : "http:";
    return { protocol, host: suffix, port: Number(port ?? defaultPort(protocol)) };
  });
}

/**
 * The URL that a function is to be called at, if it is allowed. It must be written plainly: a host that a parser would
 * turn into another one (numbers that are an address, letters that look like others, dots at the end, user names,
 * backslashes) is refused before the other host is compared with the allowed ones.
 *
 * @throws UrlRefusedError
 */
export function allowedUrl(text: string, allowed: readonly AllowedUrl[]): URL {
  const [, written = ""] = /^https?:\/\/([^/?#]*)/.exec(text) ?? [];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UrlRefusedError("webhook.url is not an http or https URL. Correct it.");
  }
  const { protocol, hostname } = url;
  const port = Number(url.port === "" ? defaultPort(protocol) : url.port);
  const canonical = [hostname, `${hostname}:${port}`];
  if (!canonical.includes(written) || !isPlainHost(hostname) || /[\s\\]/.test(text)) {
    throw new UrlRefusedError(
      "webhook.url has a host that is not written plainly. Write its name in small letters, or its address, without user or password.",
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw new UrlRefusedError("webhook.url has a query or a fragment. Leave it out.");
  }
  if (allowed.some((one) => one.protocol === protocol && one.port === port && isHostOf(one, hostname)))
    return url;
  throw new UrlRefusedError(
    `${url.origin} may not be called. The operator of the gateway can allow it in DROVER_WEBHOOK_ALLOW.`,
  );
}

const isHostOf = ({ host }: AllowedUrl, hostname: string): boolean =>
  host === "" || (host.startsWith(".") ? hostname.endsWith(host) : hostname === host);

/** A DNS name in ASCII, or an IP address in its usual form. */
function isPlainHost(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  if (isIP(address) !== 0) return true;
  const labels = host.split(".");
  const isName = labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  return (
    isName &&
    host.length <= 253 &&
    !labels.some((label) => label.startsWith("xn--")) &&
    !/^(0x)?\d+$/.test(labels.at(-1) ?? "")
  );
}

const defaultPort = (protocol: string): string => (protocol === "https:" ? "443" : "80");
