import { placeWords } from "@drover/streams";
import type { FollowedStream } from "./follow-stream.ts";

/** A stream that has heard nothing for longer than this, though it reconnects after 60 s, is not well. */
const tooSilent = 90_000;

/**
 * Why a stream keeps the bridge from being ready; undefined when it does not. A kind that cannot be followed until
 * somebody acts (no such kind, no permission) is that controller's trouble, not the others'.
 */
export function streamProblem({ plan, reflector }: FollowedStream): string | undefined {
  const kind = placeWords(plan);
  const { synced, following, degraded, silentFor, lastFailure } = reflector.status();
  if (degraded !== undefined) return undefined;
  const why = lastFailure === undefined ? "" : `: ${lastFailure.message}`;
  if (!synced) return `${kind} is not listed yet${why}`;
  if (!following) return `${kind} is not watched yet${why}`;
  if (silentFor > tooSilent) return `${kind} has been silent for ${Math.round(silentFor / 1_000)} s`;
  return undefined;
}
