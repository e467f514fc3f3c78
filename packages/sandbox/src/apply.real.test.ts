import { applyContract } from "./apply.contract.ts";
import { startRealClient } from "./testing/real-client.ts";

applyContract(() => startRealClient());
