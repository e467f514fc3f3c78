import { inRepository } from "../repository.ts";
import { type KeptProcess, keepProcess } from "./kept-process.ts";
import type { LogLine } from "./log-line.ts";
import type { Narrator } from "./narrator.ts";
import type { Run } from "./run.ts";
import type { Servers } from "./servers.ts";

/**
 * The bridge: watches the API server and wakes keys. Of our own API server it follows the functions that are deployed; in
 * somebody else's cluster it knows of the bucket function alone.
 */
export const startBridge = (run: Run, servers: Servers): Promise<KeptProcess> =>
  keepProcess(
    {
      name: "the bridge",
      file: "bridge",
      main: "apps/bridge/src/main.ts",
      environment: {
        ...common(servers),
        DROVER_LOG_LEVEL: "debug", // it logs wakes
        DROVER_AUTHORS: "trusted",
        ...(servers.sandboxUrl === undefined && {
          DROVER_FUNCTIONS: inRepository("functions/s3-bucket/deploy/function.yaml"),
        }),
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
      // At debug it tells of every run.
      environment: {
        ...common(servers),
        ...servers.s3.settings,
        ...servers.s3.credentials,
        DROVER_LOG_LEVEL: "debug",
      },
      onLine: tellOfRuns(run.narrator),
    },
    run,
  );

/** The deployer: has functions run, as many Pods of each as there is work for. */
export const startDeployer = (run: Run, servers: Servers): Promise<KeptProcess> =>
  keepProcess(
    {
      name: "the deployer",
      file: "deployer",
      main: "apps/deployer/src/main.ts",
      environment: {
        ...common(servers),
        DROVER_AUTHORS: "trusted",
        DROVER_FUNCTION: deployersFunction,
      },
      onLine: () => {},
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

/** The deployer's own ReconcileFunction. */
const deployersFunction = "default/reconcilefunctions.drover.dev";

const tellOfWakes =
  ({ say }: Narrator) =>
  ({ msg, key, reason, queue }: LogLine): void => {
    // The deployer is woken by each change of a Pod, of which people are told anyway.
    if (msg === "Woke" && key !== undefined && !queue?.startsWith(`${deployersFunction}/`))
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
