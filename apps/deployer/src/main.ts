import { type Milliseconds, type ObjectKey, ReconcileFunction } from "@drover/controller";
import { type KubeClient, nameOf, refOf } from "@drover/kube";
import { redisAccounts } from "@drover/queue";
import { runFunction } from "@drover/runtime";
import { functionConfig } from "./config.ts";
import { functionController } from "./function-controller.ts";
import { openFunctionQueues } from "./function-queues.ts";
import { accessReviews } from "./permits/access-reviews.ts";
import { keepEpoch, openAuthorGuards } from "./permits/author-guards.ts";
import { permitRecords } from "./permits/permit-records.ts";
import { reviewPermits } from "./permits/review-permits.ts";
import { type Scaler, startScaler } from "./scaler.ts";
import { scalingAnswer } from "./scaling-answer.ts";
import type { Permitting } from "./step.ts";

const kind = nameOf(refOf(ReconcileFunction));
/** How often the admission policies are looked at. */
const epochEvery: Milliseconds = 3_000;

await runFunction({
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
    answering("/scaling/", scalingAnswer(scaler));
    readiness("scaler", () => (scaler.synced() ? undefined : "ReconcileFunctions are not listed yet"));
    const redisUrl = settings.functionsRedisUrl ?? withoutUser(settings.redisUrl);
    const { rotateEvery } = settings;
    const permits = permittingOf(client, settings);
    const reviewing =
      permits === undefined
        ? Promise.resolve()
        : Promise.all([
            keepEpoch(permits.guards, { every: epochEvery, log, signal: stopping }),
            reviewPermits({ ...permits, client, every: settings.reviewEvery, wake, log, signal: stopping }),
          ]);
    return {
      controller: functionController({
        ...{ client, queues, permits, rotateEvery },
        accounts: redisAccounts(redis),
        surroundings: {
          redisUrl,
          gateway: settings.gatewayAccount,
          keda: { scalingUrl: settings.scalingUrl, account: settings.kedaAccount },
        },
      }),
      close: async () => {
        await Promise.all([scaler.done, reviewing]);
        await queues.close();
      },
    };
  },
});

/** A review's `yes` is remembered for half the time between reviews, so that runs of functions do not ask anew each time. */
function permittingOf(
  client: KubeClient,
  { authors, namespace, reviewEvery }: ReturnType<typeof functionConfig>,
): Permitting | undefined {
  if (authors === "trusted") return undefined;
  const now = (): number => performance.now();
  return {
    records: permitRecords(client, namespace),
    reviews: accessReviews(client, { remembered: reviewEvery / 2, now }),
    guards: openAuthorGuards(client, namespace, now),
    namespace,
  };
}

function withoutUser(text: string): string {
  const url = new URL(text);
  url.username = url.password = "";
  return url.href;
}
