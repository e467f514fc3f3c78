/** The name of the ReconcileFunction for ReconcileFunctions themselves: what runs from its queue grants permissions. */
const systemFunction = "reconcilefunctions.drover.dev";

/**
 * The prefix of all Redis keys and channels of one queue. They share a hash tag, so that one script may change them all on
 * a Redis Cluster. The queue of the deployer has another space than those of functions: Redis knows no rule "all but these".
 *
 * @param queue as `queueOf` of @drover/controller makes it: the function's name is its second part.
 */
export const prefixOf = (queue: string): string =>
  `{${queue.split("/")[1] === systemFunction ? "drover.system" : "drover"}:${queue}}`;

/** What `ACL SETUSER` calls the queues of all functions, those to come included. */
export const allFunctions = "{drover:*}";

/** The queue of the deployer, in whichever namespace it is registered. */
export const systemQueues = "{drover.system:*}";
