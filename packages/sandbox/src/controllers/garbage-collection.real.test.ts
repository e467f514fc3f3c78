import { garbageCollectionContract, uncollectedContract } from "./garbage-collection.contract.ts";
import { startCollectingClient, startRealClient } from "../testing/real-client.ts";

garbageCollectionContract(() => startCollectingClient());
uncollectedContract(() => startRealClient());
