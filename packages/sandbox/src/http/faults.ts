import { present } from "../json.ts";
import type { JsonObject } from "../json.ts";

/** A request as a fault hook sees it. */
export interface SandboxRequest {
  readonly method: string;
  /** Without the query, e.g. `/api/v1/namespaces/default/configmaps`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The answer that replaces the real one. */
export interface FaultAnswer {
  /** HTTP status, e.g. 429. */
  readonly status: number;
  readonly retryAfterSeconds?: number;
  readonly message?: string;
}

export type FaultHook = (request: SandboxRequest) => FaultAnswer | undefined;

/** Faults that a test can cause. Each takes effect at once. */
export interface Faults {
  /** Breaks the connections of all watches, without an end of the response. */
  dropWatches(): void;
  /** Forgets all history: older resourceVersions and continue tokens answer 410. */
  compact(): void;
  /**
   * Calls the hook before each request is served. If it returns an answer, that is sent and nothing else happens.
   * Several hooks are called in the order in which they were added. The returned function removes the hook.
   */
  respond(hook: FaultHook): () => void;
}

export const faultStatus = ({ status, retryAfterSeconds, message }: FaultAnswer): JsonObject => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: message ?? `a fault was asked for: ${status}`,
  reason: reasons.get(status) ?? "InternalError",
  details: present({ retryAfterSeconds }),
  code: status,
});

const reasons: ReadonlyMap<number, string> = new Map([
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "NotFound"],
  [409, "Conflict"],
  [410, "Expired"],
  [429, "TooManyRequests"],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
]);
