import type { KubeClient } from "@drover/kube";
import type { RedisConnection } from "@drover/queue";

/** The servers that a command reads. */
export interface CommandServers {
  readonly client: KubeClient;
  readonly redis: RedisConnection;
}
