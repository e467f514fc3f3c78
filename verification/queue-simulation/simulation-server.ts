import { startRedis } from "@drover/local-servers";
import { Redis } from "ioredis";
import { receiveWorkerMessages, type WorkerMessages } from "./worker-messages.ts";

/** The real Redis that all schedules of a simulation share, and the messages that its scripts publish. */
export interface SimulationServer {
  readonly redis: Redis;
  readonly workerMessages: WorkerMessages;
  close(): Promise<void>;
}

export async function startSimulationServer(): Promise<SimulationServer> {
  const server = await startRedis({ persistence: false });
  const redis = new Redis(server.url, { enableAutoPipelining: true });
  const workerMessages = await receiveWorkerMessages(redis);
  return {
    redis,
    workerMessages,
    async close() {
      workerMessages.close();
      redis.disconnect();
      await server.stop();
    },
  };
}
