import { garbageCollectionContract } from "./garbage-collection.contract.ts";
import { startClient } from "../testing/client.ts";

garbageCollectionContract(() => startClient());
