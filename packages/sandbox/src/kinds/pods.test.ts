import { podContract } from "./pods.contract.ts";
import { startClient } from "../testing/client.ts";

podContract(() => startClient());
