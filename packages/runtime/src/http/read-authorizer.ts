import { type Access, describeAccess, type Milliseconds } from "@drover/controller";
import { builtin, isApiError, type KubeClient } from "@drover/kube";
import { createHash } from "node:crypto";
import { z } from "zod";

/** The resource to read, as in the spec of a SubjectAccessReview. */
export type ReadAttributes =
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: "get" } }
  | { readonly resourceAttributes: Access };

/** The sender may read, or the HTTP status and message of the refusal. */
export type AccessDecision = "allowed" | { readonly status: 401 | 403 | 503; readonly message: string };

/** Decides if the sender of a request may read. `token` is the request's bearer token. */
export type ReadAuthorizer = (token: string | undefined, what: ReadAttributes) => Promise<AccessDecision>;

/** Every sender that reaches the listener may read: for loopback, or behind a NetworkPolicy. */
export const allowAll: ReadAuthorizer = () => Promise.resolve("allowed");

/** How long a decision is used. A permission that was revoked still works for that time. */
const decisionTtl: Milliseconds = 10_000;
/** Decisions kept of each outcome, so that a sender of many wrong tokens displaces no right one. */
const maxDecisions = 1_000;
/**
 * Decisions in progress at the API server. Further requests are refused at once, so that a flood causes limited load
 * there.
 */
const maxConcurrentReviews = 8;
const reviewTimeout: Milliseconds = 5_000;

const authenticated = z.looseObject({
  authenticated: z.literal(true),
  user: z.looseObject({
    username: z.string(),
    uid: z.string().optional(),
    groups: z.array(z.string()).optional(),
    extra: z.record(z.string(), z.array(z.string())).optional(),
  }),
});
const reviewed = z.looseObject({ allowed: z.boolean().optional() });

const noToken: AccessDecision = {
  status: 401,
  message: "Send the header Authorization: Bearer <a token of a ServiceAccount that may read this>.",
};
const wrongToken: AccessDecision = {
  status: 401,
  message: "The API server does not accept this token. Send a token that has not expired.",
};
const busy: AccessDecision = {
  status: 503,
  message: "Too many requests are being checked. Send this one again in a second.",
};

/**
 * Checks every sender at the API server, as kube-rbac-proxy and controller-runtime's
 * `WithAuthenticationAndAuthorization` do: a TokenReview returns the user of the token, and a SubjectAccessReview
 * decides if that user may read. Decisions are kept for 10 s, and errors are not kept. Tokens are kept as SHA-256
 * digests only.
 */
export function kubernetesAuthorizer(
  client: Pick<KubeClient, "review">,
  now: () => Milliseconds = () => performance.now(),
): ReadAuthorizer {
  const kept = { allowed: decisionCache(now), refused: decisionCache(now) };
  const underWay = new Map<string, Promise<AccessDecision>>();
  const decide = async (token: string, what: ReadAttributes, key: string): Promise<AccessDecision> => {
    const decision = await reviewRead(client, token, what).catch(reviewFailed);
    if (decision === "allowed") kept.allowed.keep(key, decision);
    else if (decision.status !== 503) kept.refused.keep(key, decision);
    return decision;
  };
  return async (token, what) => {
    if (token === undefined) return noToken;
    const key = digestOf([token, what]);
    const known = kept.allowed.find(key) ?? kept.refused.find(key) ?? underWay.get(key);
    if (known !== undefined) return known;
    if (underWay.size >= maxConcurrentReviews) return busy;
    const deciding = decide(token, what, key).finally(() => underWay.delete(key));
    underWay.set(key, deciding);
    return deciding;
  };
}

async function reviewRead(
  client: Pick<KubeClient, "review">,
  token: string,
  what: ReadAttributes,
): Promise<AccessDecision> {
  const options = { signal: AbortSignal.timeout(reviewTimeout), retries: 0 };
  const tokenReview = authenticated.safeParse(await client.review(builtin.tokenReview, { token }, options));
  if (!tokenReview.success) return wrongToken;
  const { username, ...more } = tokenReview.data.user;
  const { uid, groups, extra } = more;
  const spec = { user: username, uid, groups, extra, ...what };
  const { allowed } = reviewed.parse(await client.review(builtin.subjectAccessReview, spec, options));
  return allowed === true
    ? "allowed"
    : { status: 403, message: `${username} may not ${describeAttributes(what)}.` };
}

const describeAttributes = (what: ReadAttributes): string =>
  "resourceAttributes" in what
    ? describeAccess(what.resourceAttributes)
    : `get ${what.nonResourceAttributes.path}`;

function reviewFailed(error: unknown): AccessDecision {
  const message = isApiError(error, "Forbidden")
    ? "The ServiceAccount of this process may not create TokenReviews and SubjectAccessReviews. Grant both as in its " +
      "rbac.yaml, or set DROVER_METRICS_AUTH=none where only trusted programs reach this port."
    : "The API server cannot check the sender now. Send the request again.";
  return { status: 503, message };
}

const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

/** Decisions by key: the newest `maxDecisions`, each for `decisionTtl`. */
function decisionCache(now: () => Milliseconds) {
  const all = new Map<string, { readonly decision: AccessDecision; readonly until: Milliseconds }>();
  return {
    find(key: string): AccessDecision | undefined {
      const found = all.get(key);
      return found !== undefined && now() < found.until ? found.decision : undefined;
    },
    keep(key: string, decision: AccessDecision): void {
      all.delete(key);
      all.set(key, { decision, until: now() + decisionTtl });
      for (const oldest of all.keys()) {
        if (all.size <= maxDecisions) break;
        all.delete(oldest);
      }
    },
  };
}
