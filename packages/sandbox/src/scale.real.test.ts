import { scaleContract } from "./scale.contract.ts";
import { startRealClient } from "./testing/real-client.ts";

scaleContract(() => startRealClient());
