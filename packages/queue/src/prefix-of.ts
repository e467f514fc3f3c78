/** The queue of ReconcileFunctions, which only the deployer works off: what runs from it grants permissions. */
export const systemQueue = "reconcilefunctions.drover.dev";

/**
 * The prefix of all Redis keys and channels of one queue. They share a hash tag, so that one script may change them all on
 * a Redis Cluster. The system's own queue has another space than those of functions: Redis knows no rule "all but these".
 */
export const prefixOf = (controller: string): string =>
  `{${controller === systemQueue ? "drover.system" : "drover"}:${controller}}`;

/** What `ACL SETUSER` calls the queues of all functions, those to come included. */
export const allFunctions = "{drover:*}";
