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

/** What it takes to permit what an author asks for. */
export interface Permitting {
  readonly records: PermitRecords;
  readonly reviews: AccessReviews;
  readonly guards: AuthorGuards;
  /** The deployer's own. */
  readonly namespace: string;
}

/** What the controller of functions stands on. */
export interface FunctionControllerParts {
  readonly client: KubeClient;
  readonly accounts: FunctionAccounts;
  readonly queues: FunctionQueues;
  readonly keys: FunctionKeys;
  /** The queue of functions themselves. */
  readonly own: QueueName;
  readonly surroundings: Surroundings;
  /** What owns bindings; undefined where there is no such Namespace. */
  readonly installation: Installation | undefined;
  /** The Redis of a namespace's functions, where that is not the one in `surroundings`. */
  readonly redisOf?: (namespace: string) => Pick<Surroundings, "redisUrl" | "redisCa"> | undefined;
  /** Undefined where every author is trusted. */
  readonly permits: Permitting | undefined;
  readonly rotateEvery: Milliseconds;
  /** Bridge and gateway, where none runs. */
  readonly absent: AbsentParts["all"];
  readonly now?: () => Date;
}

/** One run of one function: everything that its steps stand on. `client` writes only while the run holds its lease. */
export interface Step extends FunctionControllerParts {
  readonly context: FunctionContext;
  /** By the uid of a function, the generation of its spec for which roles that it had before were looked for, by this process. */
  readonly swept: Map<string, number>;
  readonly home: Home;
  readonly now: () => Date;
}
