import { openMemoryWorkQueue } from "./memory-work-queue.ts";
import { workQueueContract } from "../work-queue/work-queue.contract.ts";

workQueueContract((options) => {
  let servers = 1;
  return {
    queue: openMemoryWorkQueue({ ...options, server: () => `server${servers}` }),
    replaceServer() {
      servers++;
      return Promise.resolve();
    },
  };
});
