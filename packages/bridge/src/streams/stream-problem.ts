import { describeScope } from "./plan-streams.ts";
import type { FollowedStream } from "./follow-stream.ts";

/** A stream reconnects after 60 s of silence. One that has been silent for longer than this is not healthy. */
const maxSilence = 90_000;

/**
 * Why a stream keeps the bridge from being ready; undefined if it does not. A kind that cannot be followed before a
 * person acts (the kind does not exist, or permission is missing) affects only its own controllers, and not readiness.
 */
export function streamProblem({ plan, reflector }: FollowedStream): string | undefined {
  const kind = describeScope(plan);
  const { synced, following, degraded, silentFor, lastFailure } = reflector.status();
  if (degraded !== undefined) return undefined;
  const why = lastFailure === undefined ? "" : `: ${lastFailure.message}`;
  if (!synced) return `${kind} is not listed yet${why}`;
  if (!following) return `${kind} is not watched yet${why}`;
  if (silentFor > maxSilence) return `${kind} has been silent for ${Math.round(silentFor / 1_000)} s`;
  return undefined;
}
