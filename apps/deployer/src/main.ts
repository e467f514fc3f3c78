import { type ObjectKey, objectKeyIn, ReconcileFunction } from "@drover/controller";
import { nameOf, refOf } from "@drover/kube";
import { redisAccounts } from "@drover/queue";
import { runFunction } from "@drover/runtime";
import { functionConfig } from "./config.ts";
import { functionController } from "./function-controller.ts";
import { openFunctionQueues } from "./function-queues.ts";
import { type Scaler, startScaler } from "./scaler.ts";

const kind = nameOf(refOf(ReconcileFunction));

await runFunction(
  {
    name: "deployer",
    settings: functionConfig,
    controller: (settings, { client, redis, log, stopping, readiness, answering }) => {
      const wake = (key: ObjectKey): Promise<void> =>
        queues.of(kind).wake([{ key, kind, resourceVersion: "0", reason: "Scale", class: "change" }]);
      const queues = openFunctionQueues({
        ...{ redis, own: kind, log },
        // Redis may have forgotten the functions' users.
        onIncarnation: () => scaler.wakeAll(),
      });
      const scaler: Scaler = startScaler({
        client,
        queues,
        wake,
        own: kind,
        every: settings.scaleEvery,
        log,
        signal: stopping,
      });
      answering("/scaling/", async (rest) => {
        const key = objectKeyIn(rest);
        return key && scaler.figure(key);
      });
      readiness("scaler", () => (scaler.synced() ? undefined : "ReconcileFunctions are not listed yet"));
      const redisUrl = settings.functionsRedisUrl ?? withoutUser(settings.redisUrl);
      const { authors, rotateEvery } = settings;
      return {
        controller: functionController({
          ...{ client, queues, authors, rotateEvery },
          accounts: redisAccounts(redis),
          surroundings: {
            redisUrl,
            gateway: settings.gatewayAccount,
            ...(settings.scalingUrl !== undefined && { scalingUrl: settings.scalingUrl }),
          },
        }),
        close: async () => {
          await scaler.done;
          await queues.close();
        },
      };
    },
  },
  { loadsScripts: true },
);

function withoutUser(text: string): string {
  const url = new URL(text);
  url.username = url.password = "";
  return url.href;
}
