/** The permissions that a command needs if it works on a queue; part of its help text. */
export const operatorNeeds =
  "Needs a Redis user of the role operator (docs/operating-redis.md), and permission to read ReconcileFunctions.";
