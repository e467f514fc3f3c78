import { podContract } from "./pods.contract.ts";
import { startRealClient } from "../testing/real-client.ts";

podContract(() => startRealClient());
