import { builtInListsContract } from "./built-in-lists.contract.ts";
import { startRealClient } from "./testing/real-client.ts";

builtInListsContract(() => startRealClient());
