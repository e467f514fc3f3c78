import { serviceAddressContract } from "./service-addresses.contract.ts";
import { startRealClient } from "../testing/real-client.ts";

serviceAddressContract(() => startRealClient(["--service-cluster-ip-range=127.1.0.0/16"]));
