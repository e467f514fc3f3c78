import { repositoryPath } from "../repository-path.ts";
import { type SupervisedProcess, superviseProcess } from "./supervised-process.ts";
import type { LogLine } from "./log-line.ts";
import type { Narrator } from "../story/narrator.ts";
import type { DemoRun } from "../demo-run.ts";
import type { DemoServers } from "../servers/demo-servers.ts";

/**
 * The bridge: watches the API server and wakes keys. On the run's own API server it watches the deployed functions. In
 * a cluster given by the user it serves only the bucket function, from a file.
 */
export const startBridge = (run: DemoRun, servers: DemoServers): Promise<SupervisedProcess> =>
  superviseProcess(
    {
      name: "the bridge",
      file: "bridge",
      main: "apps/bridge/src/main.ts",
      environment: {
        ...common(servers),
        DROVER_LOG_LEVEL: "debug", // to log wakes
        DROVER_AUTHORS: "trusted",
        ...(servers.sandboxUrl === undefined && {
          DROVER_FUNCTIONS: repositoryPath("functions/s3-bucket/deploy/function.yaml"),
        }),
      },
      onLine: narrateWakes(run.narrator),
    },
    run,
  );

/** The bucket function: runs keys, and creates, updates and deletes their buckets. */
export const startBucketFunction = (run: DemoRun, servers: DemoServers): Promise<SupervisedProcess> =>
  superviseProcess(
    {
      name: "the bucket function",
      file: "s3-bucket",
      main: "functions/s3-bucket/src/main.ts",
      // The level at which it logs every run.
      environment: {
        ...common(servers),
        ...servers.s3.settings,
        ...servers.s3.credentials,
        DROVER_LOG_LEVEL: "debug",
      },
      onLine: narrateRuns(run.narrator),
    },
    run,
  );

/** The deployer: scales the Pods of functions with their work. */
export const startDeployer = (run: DemoRun, servers: DemoServers): Promise<SupervisedProcess> =>
  superviseProcess(
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

const common = ({ kubeconfig, context, redisUrl }: DemoServers) => ({
  DROVER_KUBECONFIG: kubeconfig,
  DROVER_KUBE_CONTEXT: context,
  DROVER_REDIS_URL: redisUrl,
  DROVER_HTTP_HOST: "127.0.0.1",
  DROVER_HTTP_PORT: "0",
});

/** The deployer's own ReconcileFunction. */
const deployersFunction = "default/reconcilefunctions.drover.dev";

const narrateWakes =
  ({ print }: Narrator) =>
  ({ msg, key, reason, queue }: LogLine): void => {
    // The deployer is woken by every change of a Pod, and those are reported separately.
    if (msg === "Woke" && key !== undefined && !queue?.startsWith(`${deployersFunction}/`))
      print(`${key}: key woken by the bridge (${reason ?? "changed"})`, "quiet");
  };

const narrateRuns =
  ({ print }: Narrator) =>
  ({ msg, key, verdict = "done", ms = 0, why = [] }: LogLine): void => {
    // A run without a cause that changed nothing is not reported.
    if (verdict === "done" && why.length === 0) return;
    if (msg === "Reconciled" && key !== undefined)
      print(`${key}: reconciled by the bucket function in ${ms} ms (${verdict})`, "quiet");
  };
