import { integersContract } from "./integers.contract.ts";
import { startClient } from "../testing/client.ts";

integersContract(() => startClient({ controllers: false }));
