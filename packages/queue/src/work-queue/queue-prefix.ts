/** The name of the ReconcileFunction for ReconcileFunctions themselves. Runs from its queue grant permissions. */
const systemFunction = "reconcilefunctions.drover.dev";

/**
 * The prefix of all Redis keys and channels of one queue. They share a hash tag, so that one script may change them all
 * on a Redis Cluster. The deployer's queue has another prefix than those of functions: Redis ACLs have no rule "all but
 * these".
 *
 * @param queue as `queueOf` of @drover/controller makes it: the function's name is its second part.
 */
export const queuePrefix = (queue: string): string =>
  `{${queue.split("/")[1] === systemFunction ? "drover.system" : "drover"}:${queue}}`;

/** The pattern for `ACL SETUSER` of the queues of all functions, including future ones. */
export const allFunctionsPattern = "{drover:*}";

/** The pattern of the deployer's queue, in whichever namespace it is registered. */
export const systemQueuesPattern = "{drover.system:*}";

/** The prefix of the Redis keys of recorded scripts, see `recorded-scripts.ts`. They belong to no queue. */
export const recordedScriptsPrefix = "{drover-scripts}";
