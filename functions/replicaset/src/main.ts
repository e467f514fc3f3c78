import { runFunction } from "@drover/runtime";
import { functionConfig } from "./config.ts";
import { replicaSetController } from "./replica-set-controller.ts";

await runFunction({
  name: "replicaset",
  settings: functionConfig,
  controller: () => ({ controller: replicaSetController() }),
});
