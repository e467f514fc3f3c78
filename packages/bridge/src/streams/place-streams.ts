import { createHash } from "node:crypto";

/**
 * The streams that a bridge should hold. Each stream belongs to the bridge with the highest hash of both (rendezvous
 * hashing; Thaler and Ravishankar, 1998). All bridges that see the same members compute the same result, and a bridge
 * that starts or stops moves only its own streams.
 *
 * @param placedBy streams with the same result belong to the same bridge.
 */
export function placeStreams(
  streams: readonly string[],
  bridges: readonly string[],
  bridge: string,
  placedBy: (stream: string) => string = (stream) => stream,
): readonly string[] {
  const others = bridges.filter((other) => other !== bridge);
  return streams.filter((stream) => {
    const by = placedBy(stream);
    const mine = weight(by, bridge);
    return others.every((other) => isLess(weight(by, other), mine));
  });
}

const weight = (stream: string, bridge: string): string =>
  createHash("sha256").update(`${bridge}\n${stream}`).digest("hex");

const isLess = (a: string, b: string): boolean => a < b;
