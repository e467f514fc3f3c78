import type { Milliseconds, QueueName } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { AbsentParts } from "@drover/runtime";
import type { FunctionUsers } from "./redis/function-users.ts";
import type { FunctionContext } from "./objects/function-object.ts";
import type { FunctionRef } from "./function-ref.ts";
import type { FunctionKeys } from "./redis/function-keys.ts";
import type { FunctionQueues } from "./redis/function-queues.ts";
import type { Installation } from "./objects/installation.ts";
import type { AccessReviews } from "./permits/access-reviews.ts";
import type { AuthorGuards } from "./permits/author-guards.ts";
import type { PermitRecords } from "./permits/permit-records.ts";
import type { DeployEnvironment } from "./pods/pod-template.ts";

/** The parts that review and record what an author may do. */
export interface PermitServices {
  readonly records: PermitRecords;
  readonly reviews: AccessReviews;
  readonly guards: AuthorGuards;
  /** The deployer's own namespace. */
  readonly namespace: string;
}

/** The dependencies of the controller of functions. */
export interface FunctionControllerOptions {
  readonly client: KubeClient;
  readonly functionUsers: FunctionUsers;
  readonly queues: FunctionQueues;
  readonly keys: FunctionKeys;
  /** The deployer's own queue, with ReconcileFunctions as keys. */
  readonly ownQueue: QueueName;
  readonly environment: DeployEnvironment;
  /** The owner of bindings. Undefined if that Namespace does not exist. */
  readonly installation: Installation | undefined;
  /** Returns the Redis of a namespace's functions, if it is not the one in `environment`. */
  readonly redisOf?: (namespace: string) => Pick<DeployEnvironment, "redisUrl" | "redisCa"> | undefined;
  /** Undefined if every author is trusted. */
  readonly permits: PermitServices | undefined;
  readonly rotateEvery: Milliseconds;
  /** Returns bridge and gateway if no replica of them runs. */
  readonly absentParts: AbsentParts["all"];
  readonly now?: () => Date;
}

/** One run of one function, with all that its steps need. `client` writes only while the run holds its lease. */
export interface DeployRunContext extends FunctionControllerOptions {
  readonly context: FunctionContext;
  /** By the uid of a function, the generation of its spec for which this process has deleted stale roles. */
  readonly cleanedGenerations: Map<string, number>;
  readonly functionRef: FunctionRef;
  readonly now: () => Date;
}
