import { integersContract } from "./integers.contract.ts";
import { startRealClient } from "../testing/real-client.ts";

integersContract(() => startRealClient());
