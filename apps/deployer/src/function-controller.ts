import { defineController, queueOf, RetryAfterError } from "@drover/controller";
import { TenantRedisError } from "@drover/runtime";
import { deploy } from "./deploy.ts";
import { watchedKinds } from "./watched-kinds.ts";
import type { FunctionContext } from "./objects/function-object.ts";
import { functionRefOf } from "./function-ref.ts";
import type { FunctionControllerOptions, DeployRunContext } from "./run-context.ts";
import { takeDown } from "./take-down.ts";

/** The controller of ReconcileFunctions: deploys functions. */
export const functionController = (parts: FunctionControllerOptions) => {
  const swept = new Map<string, number>();
  return defineController({
    ...watchedKinds,
    // The deployer's own registration has no finalizer: once its namespace is deleted, no deployer could remove it.
    needsFinalizer: ({ metadata }) => queueOf(metadata) !== parts.ownQueue,
    reconcile: (context) => deploy(runContextOf(parts, context, swept)).catch(waitForRedis),
    finalize: (context) => takeDown(runContextOf(parts, context, swept)).catch(waitForRedis),
  });
};

/** An unavailable Redis is not a failure of the function: the run is repeated until the Redis is back. */
function waitForRedis(cause: unknown): never {
  if (!(cause instanceof TenantRedisError)) throw cause;
  throw new RetryAfterError(cause.message, { after: "5s", reason: "RedisNotUsable", cause });
}

function runContextOf(
  parts: FunctionControllerOptions,
  context: FunctionContext,
  cleanedGenerations: DeployRunContext["cleanedGenerations"],
): DeployRunContext {
  const functionRef = functionRefOf(context);
  return {
    now: () => new Date(),
    ...parts,
    environment: { ...parts.environment, ...parts.redisOf?.(functionRef.namespace) },
    context,
    cleanedGenerations,
    functionRef,
    client: parts.client.guarded(context.guard),
  };
}
