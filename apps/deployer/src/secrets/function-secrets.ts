import { webhookSecretOf } from "@drover/controller";
import { randomBytes } from "node:crypto";
import { queuesOf } from "../redis/function-queues.ts";
import { caKey, redisSecretName, redisUserName } from "../names.ts";
import type { ObservedPod } from "../pods/observe-pods.ts";
import { fingerprintOf, type PodTemplateInput } from "../pods/pod-template.ts";
import { rotateSecret } from "./rotate-secret.ts";
import type { DeployRunContext } from "../run-context.ts";

/**
 * Writes the function's secrets, and returns the template of its Pods. Undefined for a function without a container.
 */
export async function writeFunctionSecrets(
  runContext: DeployRunContext,
  pods: readonly ObservedPod[],
): Promise<PodTemplateInput | undefined> {
  const { context, functionRef, functionUsers, rotateEvery, environment } = runContext;
  const { spec, status, signal } = context;
  const { container, delivery = "pull" } = spec;
  const options = { client: runContext.client, signal, now: runContext.now() };
  const template = (password: string): PodTemplateInput | undefined =>
    container && { functionRef, spec: { ...spec, container }, environment, password };
  const isUsedByAll = (password: string): boolean => {
    const of = template(password);
    if (of === undefined) return true;
    const { revision, template: known } = status.rollout ?? {};
    return fingerprintOf(of) === known && pods.every((pod) => pod.revision === revision);
  };
  const shared = { rotateEvery, isUsedByAll, forgets: container !== undefined };
  if (delivery === "webhook") {
    const make = () => `whsec_${randomBytes(32).toString("base64")}`;
    const made = /^whsec_[A-Za-z0-9+/]{43}=$/;
    const secret = { ...shared, name: webhookSecretOf(functionRef.name), key: "current", make, made };
    return template(await rotateSecret(options, functionRef, secret));
  }
  if (container === undefined) return undefined;
  const user = { role: "function", controllers: queuesOf(functionRef, spec) } as const;
  const login = {
    ...shared,
    name: redisSecretName(functionRef.name),
    key: "password",
    others: {
      username: redisUserName(functionRef),
      ...(environment.redisCa !== undefined && { [caKey]: environment.redisCa }),
    },
    make: () => randomBytes(32).toString("base64url"),
    made: /^[A-Za-z0-9_-]{43}$/,
    announce: (passwords: readonly string[]) => functionUsers.grant(functionRef, user, passwords),
  };
  return template(await rotateSecret(options, functionRef, login));
}
