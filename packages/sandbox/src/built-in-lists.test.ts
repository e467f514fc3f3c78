import { builtInListsContract } from "./built-in-lists.contract.ts";
import { startClient } from "./testing/client.ts";

builtInListsContract(() => startClient());
