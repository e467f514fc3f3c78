import { nodeContract } from "./node.contract.ts";
import { sandboxServer } from "./testing/sandbox-server.ts";

nodeContract(() => sandboxServer());
