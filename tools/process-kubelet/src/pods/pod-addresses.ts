import { randomInt } from "node:crypto";

/** The addresses of a node's pods, each of one pod at a time. */
export interface PodAddresses {
  /** A free one; undefined if all are taken. */
  take(): string | undefined;
  /** Keeps one that a pod has already; false when it is not of this range, or another pod's. */
  reserve(address: string): boolean;
  release(address: string): void;
}

/** A range that another node of this machine hardly has. */
export const randomRange = (): string => `127.${randomInt(16, 250)}.${randomInt(0, 256)}.0/24`;

const numberOf = (address: string): number =>
  address.split(".").reduce((number, part) => number * 256 + Number(part), 0);
const addressOf = (number: number): string => [24, 16, 8, 0].map((by) => (number >>> by) & 255).join(".");

/**
 * Addresses of a range such as `127.2.0.0/16`, in their order: one that was given back comes last.
 * Throws for a range outside of 127.0.0.0/8, where pods would have to be given interfaces.
 */
export function podAddresses(cidr: string): PodAddresses {
  const [, base = "", bits = ""] = /^(127(?:\.\d{1,3}){3})\/(\d{1,2})$/.exec(cidr) ?? [];
  const size = 2 ** (32 - Number(bits));
  if (base === "" || Number(bits) < 8 || size < 4)
    throw new Error(`podCidr=${cidr} is no range of loopback. Give one like 127.2.0.0/16.`);
  const first = Math.floor(numberOf(base) / size) * size;
  const taken = new Set<number>();
  let next = 1;
  return {
    take() {
      for (let tried = 0; tried < size - 2; tried += 1) {
        const one = first + next;
        next = next + 1 < size - 1 ? next + 1 : 1;
        if (taken.has(one)) continue;
        taken.add(one);
        return addressOf(one);
      }
      return undefined;
    },
    reserve(address) {
      const one = numberOf(address);
      if (!(one > first && one < first + size - 1) || taken.has(one)) return false;
      taken.add(one);
      return true;
    },
    release: (address) => void taken.delete(numberOf(address)),
  };
}
