import { managedFieldsContract } from "./managed-fields.contract.ts";
import { startClient } from "../testing/client.ts";

managedFieldsContract(() => startClient({ controllers: false }));
