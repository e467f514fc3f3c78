// URIs that net/url.ParseRequestURI of Go accepts.
import { isIPv6 } from "node:net";

/** True if each escape has two hexadecimal digits. In a host, escapes are bytes beyond ASCII, or "%" itself. */
const isEscaped = (text: string): boolean => !/%(?![0-9a-f]{2})/i.test(text);
const hostBytes = /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]|%25|%[89a-f][0-9a-f]|[^\x00-\x7f])*$/i;
const zoneBytes = /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]|%[0-9a-f]{2}|[^\x00-\x7f])*$/i;
const isPort = (text: string): boolean => /^(?::\d*)?$/.test(text);

function isBracketed(host: string): boolean {
  const end = host.lastIndexOf("]");
  const inside = host.slice(1, end);
  const zone = inside.indexOf("%25");
  const address = zone < 0 ? inside : inside.slice(0, zone);
  const rest = zone < 0 ? "" : inside.slice(zone);
  return end > 0 && isPort(host.slice(end + 1)) && isIPv6(address) && rest !== "%25" && zoneBytes.test(rest);
}

function isHost(scheme: string, host: string): boolean {
  const bracket = host.lastIndexOf("[");
  if (bracket >= 0) return bracket === 0 && isBracketed(host);
  const first = host.indexOf(":");
  const strict = scheme === "http" || scheme === "https";
  const colon = strict ? first : host.lastIndexOf(":");
  return (first < 0 || isPort(host.slice(colon))) && hostBytes.test(host);
}

function isAuthority(scheme: string, authority: string): boolean {
  const at = authority.lastIndexOf("@");
  const user = authority.slice(0, Math.max(at, 0));
  return isHost(scheme, authority.slice(at + 1)) && /^[\w\-.:~!$&'()*+,;=%@]*$/.test(user) && isEscaped(user);
}

/** True if a text is an absolute URI, or an absolute path. */
export function requestUri(text: string): boolean {
  if (text === "" || /[\x00-\x1f\x7f]/.test(text) || text.startsWith(":")) return false;
  if (text === "*") return true;
  const scheme = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(text)?.[0] ?? "";
  const [rest = ""] = (scheme === "" ? text : text.slice(scheme.length + 1)).split("?");
  if (!rest.startsWith("/")) return scheme !== "";
  if (scheme === "" || !rest.startsWith("//")) return isEscaped(rest);
  const [, authority = "", path = ""] = /^\/\/([^/]*)(.*)$/su.exec(rest) ?? [];
  return isAuthority(scheme.toLowerCase(), authority) && isEscaped(path);
}
