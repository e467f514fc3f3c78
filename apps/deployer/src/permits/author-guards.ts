import { sleepUnlessAborted } from "@drover/timers";
import { type Log, messageOf, type Milliseconds, objectKey, RetryAfterError } from "@drover/controller";
import { type KubeClient, type KubeObject, refOf } from "@drover/kube";
import { AuthorEpoch, authorEpochName } from "@drover/runtime";
import { createHash, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { authorPolicies, validating, validatingBinding } from "./author-policies.ts";

/** Maintains the epoch of the author annotations. A spec that was written under the present policies carries it. */
export interface AuthorGuards {
  /**
   * The epoch that a spec written now gets. It is always read: if the policies have the uid and generation recorded
   * with the epoch, they have existed without a break since it began. So a spec that was read before this call and
   * carries the epoch was written under them.
   *
   * @throws RetryAfterError while the policies are absent, are not as they should be, or may not be in force everywhere
   * yet.
   */
  epoch(signal: AbortSignal): Promise<string>;
}

/** After this time every API server enforces a new policy (they do within about a second). */
const inForceAfter: Milliseconds = 5_000;
const epochRef = refOf(AuthorEpoch);
const epochSchema = z.looseObject({ spec: AuthorEpoch.spec });

/** @param now a monotonic clock, in milliseconds. */
export function openAuthorGuards(client: KubeClient, now: () => Milliseconds): AuthorGuards {
  const wanted = authorPolicies;
  const { name } = wanted.policy.metadata;
  const key = objectKey({ name });
  const named = { name: authorEpochName };
  let seen: { readonly policies: string; readonly since: Milliseconds } | undefined;

  const epoch = async (signal: AbortSignal): Promise<string> => {
    const [policy, binding] = await Promise.all([
      client.get(validating, key, { signal }),
      client.get(validatingBinding, key, { signal }),
    ]);
    rejectDifferentPolicy(policy, wanted.policy, validating.kind);
    rejectDifferentPolicy(binding, wanted.binding, validatingBinding.kind);
    const policies = identityOf([policy, binding]);
    if (seen?.policies !== policies) seen = { policies, since: now() };
    const object = await client.get(epochRef, objectKey(named), { signal });
    const present = epochSchema.safeParse(object).data?.spec;
    if (present?.policies === policies) return present.epoch;
    if (now() - seen.since < inForceAfter) {
      throw new RetryAfterError(
        `The admission policies ${name} are new: they are in force within ${inForceAfter / 1_000} s.`,
        { after: `${inForceAfter}ms`, reason: "AuthorsUnguarded" },
      );
    }
    const next = randomUUID();
    const spec = { epoch: next, policies };
    if (object === undefined) await client.create(epochRef, { metadata: named, spec }, { signal });
    else {
      const { resourceVersion, uid } = object.metadata;
      const body = { metadata: { resourceVersion, uid }, spec };
      await client.patch(epochRef, objectKey(named), { type: "merge", body }, { signal });
    }
    return next;
  };
  return { epoch };
}

/** Changes with every change and every replacement of the policies: uids are unique, generations grow. */
const identityOf = (objects: readonly (KubeObject | undefined)[]): string =>
  createHash("sha256")
    .update(JSON.stringify(objects.map((object) => [object?.metadata.uid, object?.metadata.generation])))
    .digest("hex");

function rejectDifferentPolicy(
  present: KubeObject | undefined,
  { metadata: { name }, spec }: { readonly metadata: { readonly name: string }; readonly spec: object },
  kind: string,
): void {
  if (present === undefined) throw unguarded(`There is no ${kind} ${name}.`);
  // Compared exactly: one more field, such as matchConditions or a namespaceSelector, may exempt a user.
  const field = differingField(present["spec"], spec);
  if (field !== undefined)
    throw unguarded(`The ${kind} ${name} is not as it should be: spec.${field} differs.`);
}

function differingField(present: unknown, wanted: object): string | undefined {
  const fields: Readonly<Record<string, unknown>> =
    typeof present === "object" && present !== null ? { ...present } : {};
  const right: Readonly<Record<string, unknown>> = { ...wanted };
  return [...new Set([...Object.keys(fields), ...Object.keys(right)])].find(
    (field) => !isDeepStrictEqual(fields[field], right[field]),
  );
}

const unguarded = (problem: string): RetryAfterError =>
  new RetryAfterError(`${problem} So the author of this function is not known. Install authors.yaml.`, {
    after: "30s",
    reason: "AuthorsUnguarded",
  });

/**
 * Maintains the epoch from the start of the process on: without one, the API server rejects every function. While the
 * policies are wrong, every function's condition reports it, and this logs a warning, once for each reason.
 *
 * @returns a promise that resolves after `signal` has fired.
 */
export async function maintainEpoch(
  guards: AuthorGuards,
  { every, log, signal }: { readonly every: Milliseconds; readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  let warned = "";
  while (!signal.aborted) {
    const problem = await guards.epoch(signal).then(() => "", messageOf);
    if (problem !== "" && problem !== warned) {
      log.warn({ problem }, "Authors of functions are not known: new and changed functions are refused");
    }
    warned = problem;
    await sleepUnlessAborted(every, signal);
  }
}
