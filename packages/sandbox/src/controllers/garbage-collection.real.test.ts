import { garbageCollectionContract } from "./garbage-collection.contract.ts";
import { startCollectingClient } from "../testing/real-client.ts";

garbageCollectionContract(() => startCollectingClient());
