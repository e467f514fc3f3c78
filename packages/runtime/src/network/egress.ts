import { isIP } from "node:net";
import { splitWords } from "../process/settings.ts";

/** A network in the API server's notation: `10.0.0.0/8`. */
interface Network {
  readonly cidr: string;
  /** The first address. */
  readonly start: bigint;
  readonly bits: number;
  /** Length of an address in bits: 32 or 128. */
  readonly width: number;
}

/** Destinations that Pods of functions may connect to, in addition to DNS, Redis and the gateway. */
export interface Egress {
  /**
   * If true, every Pod of the cluster, too: network plugins differ in whether a network includes the Pods in its range.
   */
  readonly pods: boolean;
  readonly networks: readonly Network[];
  /** Forbidden, except for those of `networks` that lie in them. */
  readonly except: readonly Network[];
}

/** A destination that cannot be used. */
export class InvalidEgressError extends Error {
  override readonly name = "InvalidEgressError";
}

/**
 * By default, all addresses that are not excepted, and the Pod Identity agent of EKS, which gives a Pod only the
 * credentials of its own ServiceAccount.
 */
export const defaultEgress = "pods 0.0.0.0/0 ::/0 169.254.170.23/32 fd00:ec2::23/128";

/**
 * Addresses at which clouds give every Pod the credentials of its node. IPv4: link-local ones, and those of Alibaba,
 * Oracle (Classic) and Azure (wire server). IPv6: link-local ones, and those of AWS, Google, Oracle, Scaleway and
 * Linode.
 */
export const metadataNetworks = [
  "169.254.0.0/16 100.100.100.200/32 192.0.0.192/32 168.63.129.16/32",
  "fe80::/10 fd00:ec2::/32 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128 fd00:42::42/128 fd00:a9fe:a9fe::1/128",
].join(" ");

/**
 * Parses networks, and `pods` for every Pod of the cluster; or `none`.
 * @throws InvalidEgressError
 */
export function parseDestinations(text: string): Omit<Egress, "except"> {
  const words = wordsOf(text);
  return {
    pods: words.includes("pods"),
    networks: words.filter((word) => word !== "pods").map(parseNetwork),
  };
}

/** @throws InvalidEgressError */
export const parseNetworks = (text: string): readonly Network[] => wordsOf(text).map(parseNetwork);

/** The peers of a NetworkPolicy's rule. */
export function egressPeers({ pods, networks, except }: Egress): readonly object[] {
  return [
    ...(pods ? [{ namespaceSelector: {} }] : []),
    ...networks.map((network) => {
      const closed = except.filter((one) => isWithin(one, network)).map(({ cidr }) => cidr);
      return { ipBlock: { cidr: network.cidr, ...(closed.length > 0 && { except: closed }) } };
    }),
  ];
}

const wordsOf = (text: string): readonly string[] => (text === "none" ? [] : splitWords(text));

function parseNetwork(word: string): Network {
  const [address = "", size = "", ...more] = word.split("/");
  const version = /^[0-9a-f:]+$|^[0-9.]+$/.test(address) ? isIP(address) : 0;
  const width = version === 4 ? 32 : 128;
  const bits = Number(size);
  if (version === 0 || !/^(0|[1-9]\d{0,2})$/.test(size) || bits > width || more.length > 0) {
    throw new InvalidEgressError(`${JSON.stringify(word)} is not a network. Write 10.0.0.0/8, or fd00::/8.`);
  }
  // The API server would reject every function's NetworkPolicy with such a network.
  const start = numberOf(address);
  if ((start & ((1n << BigInt(width - bits)) - 1n)) !== 0n) {
    throw new InvalidEgressError(
      `${word} does not begin at ${address}: bits after the first ${bits} are set. Write the network's first address.`,
    );
  }
  return { cidr: word, start, bits, width };
}

/** True if `one` lies in `network` and is smaller, as the API server requires of an exception. */
function isWithin(one: Network, network: Network): boolean {
  const beyond = BigInt(network.width - network.bits);
  return (
    one.width === network.width && one.bits > network.bits && one.start >> beyond === network.start >> beyond
  );
}

function numberOf(address: string): bigint {
  if (isIP(address) === 4) return joined(address.split(".").map(Number), 8n);
  const [head = [], tail] = address
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - head.length - tail.length }, () => "0");
  return joined(
    [...head, ...zeros, ...(tail ?? [])].map((group) => parseInt(group, 16)),
    16n,
  );
}

const joined = (parts: readonly number[], width: bigint): bigint =>
  parts.reduce((sum, part) => (sum << width) | BigInt(part), 0n);
