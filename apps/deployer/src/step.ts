import type { Milliseconds, QueueName } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { RedisAccounts } from "@drover/queue";
import type { Authors } from "@drover/runtime";
import type { FunctionContext } from "./function-objects.ts";
import type { Home } from "./home.ts";
import type { FunctionKeys } from "./function-keys.ts";
import type { FunctionQueues } from "./function-queues.ts";
import type { Surroundings } from "./pod-template.ts";

/** What the controller of functions stands on. */
export interface FunctionControllerParts {
  readonly client: KubeClient;
  readonly accounts: RedisAccounts;
  readonly queues: FunctionQueues;
  readonly keys: FunctionKeys;
  /** The queue of functions themselves. */
  readonly own: QueueName;
  readonly surroundings: Surroundings;
  /** `checked`: whoever deploys a function must hold what it may do. `trusted`: for a cluster of one's own. */
  readonly authors: Authors;
  readonly rotateEvery: Milliseconds;
  readonly now?: () => Date;
}

/** One run of one function: everything that its steps stand on. `client` writes only while the run holds its lease. */
export interface Step extends FunctionControllerParts {
  readonly context: FunctionContext;
  readonly home: Home;
  readonly now: () => Date;
}
