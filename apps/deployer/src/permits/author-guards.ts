import { type Log, messageOf, type Milliseconds, objectKey, RetryAfterError } from "@drover/controller";
import { type KubeClient, type KubeObject, refOf } from "@drover/kube";
import { AuthorEpoch, epochName, pause } from "@drover/runtime";
import { createHash, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { authorGuards, validating, validatingBinding } from "./author-policies.ts";

/** Keeps the epoch of the authors' annotations: what was written under the policies as they are now carries it. */
export interface AuthorGuards {
  /**
   * The epoch that a spec written now is given. It is always looked up: policies whose uid and generation are those of the
   * epoch have been there without a break since it began, so a spec that was read before and carries it was written under
   * them.
   *
   * @throws RetryAfterError while the policies are absent, other than they should be, or too new to be in force everywhere.
   */
  epoch(signal: AbortSignal): Promise<string>;
}

/** After this time every API server enforces a new policy (they do within about a second). */
const inForceAfter: Milliseconds = 5_000;
const epochRef = refOf(AuthorEpoch);
const epochSchema = z.looseObject({ spec: AuthorEpoch.spec });

/** @param now a monotonic clock, in milliseconds. */
export function openAuthorGuards(client: KubeClient, now: () => Milliseconds): AuthorGuards {
  const wanted = authorGuards;
  const { name } = wanted.policy.metadata;
  const key = objectKey({ name });
  const named = { name: epochName };
  let seen: { readonly policies: string; readonly since: Milliseconds } | undefined;

  const epoch = async (signal: AbortSignal): Promise<string> => {
    const [policy, binding] = await Promise.all([
      client.get(validating, key, { signal }),
      client.get(validatingBinding, key, { signal }),
    ]);
    refuseOther(policy, wanted.policy, validating.kind);
    refuseOther(binding, wanted.binding, validatingBinding.kind);
    const policies = identityOf([policy, binding]);
    if (seen?.policies !== policies) seen = { policies, since: now() };
    const object = await client.get(epochRef, objectKey(named), { signal });
    const present = epochSchema.safeParse(object).data?.spec;
    if (present?.policies === policies) return present.epoch;
    if (now() - seen.since < inForceAfter) {
      throw new RetryAfterError(
        `The admission policies ${name} are new: authors are known again within ${inForceAfter / 1_000} s.`,
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

/** Another policy of the name, or the same one changed, is another text: uids are unique, generations grow. */
const identityOf = (objects: readonly (KubeObject | undefined)[]): string =>
  createHash("sha256")
    .update(JSON.stringify(objects.map((object) => [object?.metadata.uid, object?.metadata.generation])))
    .digest("hex");

function refuseOther(
  present: KubeObject | undefined,
  { metadata: { name }, spec }: { readonly metadata: { readonly name: string }; readonly spec: object },
  kind: string,
): void {
  if (present === undefined) throw unguarded(`There is no ${kind} ${name}.`);
  // Exactly: a field more, such as matchConditions or a namespaceSelector, may exempt a user.
  const field = differingField(present["spec"], spec);
  if (field !== undefined)
    throw unguarded(`The ${kind} ${name} is another one than it should be: spec.${field}.`);
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
 * Looks after the epoch from the start on, before there is any function: without one no function can be written. While the
 * policies are wrong every function's condition says so; here it is a warning, once for each reason.
 *
 * @returns a promise that resolves when `signal` has ended it.
 */
export async function keepEpoch(
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
    await pause(every, signal);
  }
}
