import { applyContract } from "./apply.contract.ts";
import { startClient } from "./testing/client.ts";

applyContract(() => startClient({ controllers: false }));
