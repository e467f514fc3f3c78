import { garbageCollectionContract, uncollectedContract } from "./garbage-collection.contract.ts";
import { startClient } from "../testing/client.ts";

garbageCollectionContract(() => startClient());
uncollectedContract(() => startClient({ controllers: false }));
