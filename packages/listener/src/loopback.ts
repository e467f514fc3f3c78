import { isIPv4, isIPv6 } from "node:net";

/** An IPv4 address in its plain form; a socket of both families returns it as `::ffff:127.0.0.1`. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

/** True for `localhost` and for the literal addresses of loopback: all of 127.0.0.0/8, and `::1`. */
export function isLoopback(host: string): boolean {
  const address = plainAddress(host);
  if (isIPv4(address)) return address.startsWith("127.");
  return isIPv6(address) ? address === "::1" : address === "localhost";
}
