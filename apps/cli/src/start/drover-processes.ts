import { inRepository } from "../repository.ts";
import { type KeptProcess, keepProcess } from "./kept-process.ts";
import type { LogLine } from "./log-line.ts";
import type { Narrator } from "./narrator.ts";
import type { Run } from "./run.ts";
import type { Servers } from "./servers.ts";

/** The bridge: watches the API server and wakes keys. */
export const startBridge = (run: Run, servers: Servers): Promise<KeptProcess> =>
  keepProcess(
    {
      name: "the bridge",
      file: "bridge",
      main: "apps/bridge/src/main.ts",
      environment: {
        ...common(servers),
        DROVER_LOG_LEVEL: "debug", // it tells of wakes
        DROVER_FUNCTIONS: inRepository("functions/s3-bucket/deploy/function.yaml"),
      },
      onLine: tellOfWakes(run.narrator),
    },
    run,
  );

/** The bucket function: takes keys and looks after their buckets. */
export const startBucketFunction = (run: Run, servers: Servers): Promise<KeptProcess> =>
  keepProcess(
    {
      name: "the bucket function",
      file: "s3-bucket",
      main: "functions/s3-bucket/src/main.ts",
      environment: { ...common(servers), ...servers.s3.environment },
      onLine: tellOfRuns(run.narrator),
    },
    run,
  );

const common = ({ kubeconfig, context, redisUrl }: Servers) => ({
  DROVER_KUBECONFIG: kubeconfig,
  DROVER_KUBE_CONTEXT: context,
  DROVER_REDIS_URL: redisUrl,
  DROVER_HTTP_HOST: "127.0.0.1",
  DROVER_HTTP_PORT: "0",
});

const tellOfWakes =
  ({ say }: Narrator) =>
  ({ msg, key, reason }: LogLine): void => {
    if (msg === "Woke" && key !== undefined)
      say(`${key}: key woken by the bridge (${reason ?? "changed"})`, "quiet");
  };

const tellOfRuns =
  ({ say }: Narrator) =>
  ({ msg, key, verdict = "done", ms = 0, why = [] }: LogLine): void => {
    // A look that nobody asked for, and that found nothing to do, is no news.
    if (verdict === "done" && why.length === 0) return;
    if (msg === "Reconciled" && key !== undefined)
      say(`${key}: reconciled by the bucket function in ${ms} ms (${verdict})`, "quiet");
  };
