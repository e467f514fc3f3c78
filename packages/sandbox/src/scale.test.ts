import { scaleContract } from "./scale.contract.ts";
import { startClient } from "./testing/client.ts";

scaleContract(() => startClient());
