import { type FunctionIdentity, queueOf } from "@drover/controller";
import { createHash } from "node:crypto";

/** The label of everything that belongs to a function; its value is the function's name. */
export const functionLabel = "drover.dev/function";
/** The label of everything that belongs to a function with the namespace of that: objects elsewhere have it, too. */
export const namespaceLabel = "drover.dev/function-namespace";
/** The annotation of a Pod with the revision that it is of. */
export const revisionAnnotation = "drover.dev/revision";

/** What the names of all functions' Redis users begin with; those of the deployer and the like do not. */
export const redisUsers = "function:";
/** The Redis user of a function, which no other function has, nor one that is made again under the same name. */
export const redisUserOf = (identity: FunctionIdentity): string => redisUsers + queueOf(identity);
export const redisSecretOf = (name: string): string => `${name}-redis`;
/** The key of that Secret with the certificates of Redis' authorities. */
export const caKey = "ca.crt";
/** Cluster-scoped objects of a function: two functions of one name live in two namespaces. */
export const clusterRoleOf = (namespace: string, name: string): string => `drover:${namespace}:${name}`;

/** A fingerprint of a value: 12 hexadecimal digits. */
export const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 12);
