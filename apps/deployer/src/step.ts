import type { Milliseconds, QueueName } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { AbsentParts } from "@drover/runtime";
import type { FunctionAccounts } from "./function-accounts.ts";
import type { FunctionContext } from "./function-objects.ts";
import type { Home } from "./home.ts";
import type { FunctionKeys } from "./function-keys.ts";
import type { FunctionQueues } from "./function-queues.ts";
import type { Installation } from "./installation.ts";
import type { AccessReviews } from "./permits/access-reviews.ts";
import type { AuthorGuards } from "./permits/author-guards.ts";
import type { PermitRecords } from "./permits/permit-records.ts";
import type { Surroundings } from "./pod-template.ts";

/** The parts that review and record what an author may do. */
export interface Permitting {
  readonly records: PermitRecords;
  readonly reviews: AccessReviews;
  readonly guards: AuthorGuards;
  /** The deployer's own namespace. */
  readonly namespace: string;
}

/** The dependencies of the controller of functions. */
export interface FunctionControllerParts {
  readonly client: KubeClient;
  readonly accounts: FunctionAccounts;
  readonly queues: FunctionQueues;
  readonly keys: FunctionKeys;
  /** The deployer's own queue, with ReconcileFunctions as keys. */
  readonly own: QueueName;
  readonly surroundings: Surroundings;
  /** The owner of bindings. Undefined if that Namespace does not exist. */
  readonly installation: Installation | undefined;
  /** Returns the Redis of a namespace's functions, if it is not the one in `surroundings`. */
  readonly redisOf?: (namespace: string) => Pick<Surroundings, "redisUrl" | "redisCa"> | undefined;
  /** Undefined if every author is trusted. */
  readonly permits: Permitting | undefined;
  readonly rotateEvery: Milliseconds;
  /** Returns bridge and gateway if no replica of them runs. */
  readonly absent: AbsentParts["all"];
  readonly now?: () => Date;
}

/** One run of one function, with all that its steps need. `client` writes only while the run holds its lease. */
export interface Step extends FunctionControllerParts {
  readonly context: FunctionContext;
  /** By the uid of a function, the generation of its spec for which this process has deleted stale roles. */
  readonly swept: Map<string, number>;
  readonly home: Home;
  readonly now: () => Date;
}
