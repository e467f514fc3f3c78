import { type FunctionIdentity, queueOf } from "@drover/controller";
import { createHash } from "node:crypto";

/** The annotation of a Pod with its revision. */
export const podRevisionAnnotation = "drover.dev/revision";

/** The prefix of the Redis users of functions. The users of the deployer and the like do not have it. */
export const redisUserPrefix = "function:";
/** The Redis user of a function. No other function has it, also none that is created later under the same name. */
export const redisUserName = (identity: FunctionIdentity): string => redisUserPrefix + queueOf(identity);
export const redisSecretName = (name: string): string => `${name}-redis`;
/** The key of that Secret with the CA certificates of Redis. */
export const caKey = "ca.crt";
/**
 * The name of a function's cluster-scoped objects. It contains the namespace, because another one may have a function
 * of that name.
 */
export const clusterRoleName = (namespace: string, name: string): string => `drover:${namespace}:${name}`;

/** A fingerprint of a value: 12 hexadecimal digits. */
export const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 12);

/** The annotation with the names of those that an author has asked for, so that they can be removed again. */
export const authorsAnnotation = "drover.dev/annotations";

/**
 * The annotation with the uid of an object's function, for objects that the function does not own, such as
 * cluster-scoped ones.
 */
export const ownerAnnotation = "drover.dev/owner";
