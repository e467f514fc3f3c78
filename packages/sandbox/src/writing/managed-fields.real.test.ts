import { managedFieldsContract } from "./managed-fields.contract.ts";
import { startRealClient } from "../testing/real-client.ts";

managedFieldsContract(() => startRealClient());
