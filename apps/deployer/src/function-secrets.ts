import { webhookSecretOf } from "@drover/controller";
import { randomBytes } from "node:crypto";
import { queuesOf } from "./function-queues.ts";
import { caKey, redisSecretOf, redisUserOf } from "./names.ts";
import type { ObservedPod } from "./observe-pods.ts";
import { fingerprintOf, type TemplateOf } from "./pod-template.ts";
import { keepRotatingSecret } from "./rotating-secret.ts";
import type { Step } from "./step.ts";

/**
 * Writes the function's secrets, and returns the template of its Pods. Undefined for a function without a container.
 */
export async function templateWithSecrets(
  step: Step,
  pods: readonly ObservedPod[],
): Promise<TemplateOf | undefined> {
  const { context, home, accounts, rotateEvery, surroundings } = step;
  const { spec, status, signal } = context;
  const { container, delivery = "pull" } = spec;
  const keeper = { client: step.client, signal, now: step.now() };
  const template = (password: string): TemplateOf | undefined =>
    container && { home, spec: { ...spec, container }, surroundings, password };
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
    const secret = { ...shared, name: webhookSecretOf(home.name), key: "current", make, made };
    return template(await keepRotatingSecret(keeper, home, secret));
  }
  if (container === undefined) return undefined;
  const user = { role: "function", controllers: queuesOf(home, spec) } as const;
  const login = {
    ...shared,
    name: redisSecretOf(home.name),
    key: "password",
    others: {
      username: redisUserOf(home),
      ...(surroundings.redisCa !== undefined && { [caKey]: surroundings.redisCa }),
    },
    make: () => randomBytes(32).toString("base64url"),
    made: /^[A-Za-z0-9_-]{43}$/,
    announce: (passwords: readonly string[]) => accounts.grant(home, user, passwords),
  };
  return template(await keepRotatingSecret(keeper, home, login));
}
