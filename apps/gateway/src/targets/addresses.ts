import { BlockList, isIP } from "node:net";

/** Networks that calls may go to although they are not public. */
export interface Networks {
  has(address: string): boolean;
}

/** A list of networks cannot be used. */
export class InvalidNetworkError extends Error {
  override readonly name = "InvalidNetworkError";
}

/** @throws InvalidNetworkError */
export function parseNetworks(words: readonly string[]): Networks {
  const list = new BlockList();
  for (const word of words) {
    const [address = "", bits = "", ...more] = word.split("/");
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > most || more.length > 0) {
      throw new InvalidNetworkError(
        `${JSON.stringify(word)} is not a network; write 127.0.0.0/8 or fd00::/8`,
      );
    }
    list.addSubnet(address, Number(bits), nameOf(family));
  }
  return { has: (address) => isIn(list, address) };
}

/**
 * True if an address is public, by IANA's special-purpose registries. Addresses that are private, shared (CGNAT),
 * loopback, link-local (metadata servers), multicast, reserved or for documentation are not. In IPv6, only global
 * unicast is public, without the addresses that contain an IPv4 address (6to4, Teredo): they would be another way to
 * write one of the former. Mapped and NAT64 addresses are not global unicast.
 */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !isIn(nonPublic4, address);
    case 6:
      return isIn(global6, address) && !isIn(nonPublic6, address);
    default:
      return false;
  }
}

/** True if no Service of a cluster can have the address, whichever client wrote it there. */
export const isNonServiceAddress = (address: string): boolean =>
  isIP(address) === 0 || isIn(nonServiceNetworks, address);

const nameOf = (family: number): "ipv4" | "ipv6" => (family === 4 ? "ipv4" : "ipv6");

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, nameOf(family));
}

function networks(...texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", bits = ""] = text.split("/");
    list.addSubnet(address, Number(bits), nameOf(isIP(address)));
  }
  return list;
}

const nonPublic4 = networks(
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...[
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
  ],
  ...["192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
);
const global6 = networks("2000::/3");
const nonPublic6 = networks("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20");
const nonServiceNetworks = networks(
  ...["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32"],
  ...["::/127", "64:ff9b::/96", "2002::/16", "fe80::/10", "ff00::/8"],
);
