import { serviceAddressContract } from "./service-addresses.contract.ts";
import { startClient } from "../testing/client.ts";

serviceAddressContract(() => startClient());
