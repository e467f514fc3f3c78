import { defineController, queueOf, RetryAfterError } from "@drover/controller";
import { TenantRedisError } from "@drover/runtime";
import { deploy } from "./deploy.ts";
import { followed } from "./followed.ts";
import type { FunctionContext } from "./function-objects.ts";
import { homeOf } from "./home.ts";
import type { FunctionControllerParts, Step } from "./step.ts";
import { takeDown } from "./take-down.ts";

/** The controller of ReconcileFunctions: deploys functions. */
export const functionController = (parts: FunctionControllerParts) => {
  const swept = new Map<string, number>();
  return defineController({
    ...followed,
    // The deployer's own registration has no finalizer: once its namespace is deleted, no deployer could remove it.
    needsFinalizer: ({ metadata }) => queueOf(metadata) !== parts.own,
    reconcile: (context) => deploy(stepOf(parts, context, swept)).catch(waitForRedis),
    finalize: (context) => takeDown(stepOf(parts, context, swept)).catch(waitForRedis),
  });
};

/** An unavailable Redis is not a failure of the function: the run is repeated until the Redis is back. */
function waitForRedis(cause: unknown): never {
  if (!(cause instanceof TenantRedisError)) throw cause;
  throw new RetryAfterError(cause.message, { after: "5s", reason: "RedisNotUsable", cause });
}

function stepOf(parts: FunctionControllerParts, context: FunctionContext, swept: Step["swept"]): Step {
  const home = homeOf(context);
  return {
    now: () => new Date(),
    ...parts,
    surroundings: { ...parts.surroundings, ...parts.redisOf?.(home.namespace) },
    context,
    swept,
    home,
    client: parts.client.guarded(context.guard),
  };
}
