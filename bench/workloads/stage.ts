import { type FakeNodeCluster, startClusterWithFakeNodes } from "@drover/real-cluster";
import { type Audited, startAudited } from "../bridge/cluster/audited.ts";
import { auditPolicy } from "./audit-log.ts";
import { type CompletionWatch, watchDaemonSets, watchDeployments, watchJobs } from "./completion-watch.ts";
import { type EndpointWatch, watchEndpoints } from "./endpoint-watch.ts";

/** A whole control plane with fake nodes, and the tools that measure the contestant that works on it. */
export interface Stage extends Audited<FakeNodeCluster> {
  readonly deployments: CompletionWatch;
  readonly jobs: CompletionWatch;
  readonly endpoints: EndpointWatch;
  readonly daemonSets: CompletionWatch;
}

export async function setStage(log: (line: string) => void): Promise<Stage> {
  const audited = await startAudited(auditPolicy, (apiServerArgs) =>
    startClusterWithFakeNodes({ nodes: 10, apiServerArgs, log }),
  );
  const deployments = watchDeployments(audited.api);
  const jobs = watchJobs(audited.api);
  const endpoints = watchEndpoints(audited.api);
  const daemonSets = watchDaemonSets(audited.api);
  return {
    ...audited,
    deployments,
    jobs,
    daemonSets,
    endpoints,
    async stop() {
      deployments.stop();
      jobs.stop();
      daemonSets.stop();
      endpoints.stop();
      await audited.stop();
    },
  };
}
