/** The rights that a command takes which works on a queue. */
export const operatorNeeds =
  "It takes a Redis user of the role operator (docs/operating-redis.md), and may read ReconcileFunctions.";
