import { connect } from "@drover/kube";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { observe } from "../workloads/observe.ts";
import { deployments } from "../workloads/deployments/family.ts";
import { daemonSets } from "../workloads/daemonsets/family.ts";
import { controllersBeside } from "../workloads/families.ts";
import { endpointSlices } from "../workloads/endpointslices/family.ts";
import { cronJobs } from "../workloads/cronjobs/family.ts";
import { jobs } from "../workloads/jobs/family.ts";
import { auditLog, ownersAreChecked } from "@drover/real-cluster";
import { accountOf } from "./deployer-in-pods.ts";
import { images, story } from "./stories/deployment-story.ts";
import { installDeployer, partImages } from "./installed-deployer.ts";
import { allowedBy, ruleSchema, usedBy } from "./needed-rules.ts";
import { nodeImage, startPodClusterAs } from "./pod-cluster.ts";
import { playDaemonSet } from "./stories/daemon-set-story.ts";
import { playCronJobs } from "./stories/cron-job-story.ts";
import { playJobs } from "./stories/job-story.ts";
import { playService } from "./stories/service-story.ts";
import { openStage, type Played, type Stage } from "./stories/story-stage.ts";

const names = ["replicaset", "deployment", "job", "cronjob", "daemonset", "endpointslice"];
const home = "apps";
const manifest = (name: string) => new URL(`../../functions/${name}/deploy/function.yaml`, import.meta.url);

const audit = await auditLog(
  names.map((name) => accountOf(home, name)),
  [],
);
afterAll(() => audit.remove());
const cluster = await startPodClusterAs(
  { apiServerArgs: [...audit.apiServerArgs, ownersAreChecked] },
  ...partImages,
  ...names.map((name) => ({ of: name, as: `drover/${name}:0.1.0` })),
  ...[images.first, images.second].map((as) => ({
    of: "web-server",
    entry: "verification/cluster/web-server.ts",
    as,
  })),
  { of: "node", as: nodeImage },
);
afterAll(() => cluster.stop());
const client = await connect({ kubeconfig: cluster.kubeconfigOutside });
afterAll(() => client.close());
const observer = await observe(client, ["Deployment", "ReplicaSet", "Pod"]);
afterAll(() => observer.close());
await installDeployer(cluster, home);

/** What happens while pods are being made and end; each has a `kubectl` that gives up before that. */
const patience = { timeout: 600_000 };
const theirs: Played[] = [];
let theirStage: Stage;
let theirJobs: unknown;
let theirService: unknown;
let theirDaemonSet: unknown;
let theirCronJobs: unknown;

describe("with kube-controller-manager's controllers", patience, () => {
  beforeAll(async () => {
    theirStage = await openStage(cluster, observer, "story-theirs");
  });

  it.each(story)("$name", async (step) => {
    const played = await theirStage.play(step);
    theirs.push(played);
    expect(played.broken).toEqual([]);
  });

  it("Jobs run to their ends", async () => {
    theirJobs = await playJobs(cluster, "jobs-theirs");
  });

  it("a Service answers while its pods are replaced", async () => {
    theirService = await playService(cluster, "service-theirs");
    expect(theirService).toMatchObject({ failures: [] });
  });
  it("a DaemonSet rolls and is undone", async () => {
    theirDaemonSet = await playDaemonSet(cluster, "daemon-theirs");
  });
  it("CronJobs start Jobs at two times", async () => {
    theirCronJobs = await playCronJobs(cluster, "cron-theirs");
  });
});

describe("with ours in their place, which are pods that the deployer made", patience, () => {
  let stage: Stage;
  let before: string;
  beforeAll(async () => {
    before = await ofDrover();
    await cluster.runControllers(controllersBeside(deployments, jobs, cronJobs, daemonSets, endpointSlices));
    for (const name of names) await cluster.kubectl(["apply", "-n", home, "-f", manifest(name).pathname]);
    const functions = names.map((name) => `reconcilefunction/${name}`);
    await cluster.wait("condition=Ready", `--namespace=${home}`, ...functions);
    stage = await openStage(cluster, observer, "story-ours");
  }, 240_000);
  /** What Deployments there are of Drover's own, with all that they own; made before there was any function. */
  const ofDrover = () =>
    cluster.kubectl([
      ...["get", "deployments,replicasets,pods", "-n", "drover", "-o"],
      "jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.spec.replicas} {.status.readyReplicas}{'\\n'}{end}",
    ]);

  it.each(story.map((step, i) => ({ ...step, i })))("the same is seen: $name", async ({ i, ...step }) => {
    const { broken } = await stage.play(step);
    expect(broken).toEqual([]);
    await vi.waitFor(() => expect(stage.look()).toEqual(theirs[i]?.seen), { timeout: 30_000 });
  });

  it("Jobs run to the same ends", async () => {
    expect(await playJobs(cluster, "jobs-ours")).toEqual(theirJobs);
  });

  it("a Service answers while its pods are replaced, and has the same slices", async () => {
    expect(await playService(cluster, "service-ours")).toEqual(theirService);
  });
  it("a DaemonSet does the same", async () => {
    expect(await playDaemonSet(cluster, "daemon-ours")).toEqual(theirDaemonSet);
  });
  it("CronJobs start the same Jobs", async () => {
    expect(await playCronJobs(cluster, "cron-ours")).toEqual(theirCronJobs);
  });

  it("its Events are the same", async () => {
    await vi.waitFor(() => expect(stage.reasons()).toEqual(theirStage.reasons()), { timeout: 60_000 });
  });

  it("what there was before, Drover's own parts, is as it was", async () => {
    expect(await ofDrover()).toBe(before);
  });

  it("Drover's own parts, Deployments too, are started anew by what they serve", async () => {
    for (const part of ["gateway", "bridge", "deployer"]) {
      const of = ["-n", "drover", `deployment/${part}`];
      await cluster.kubectl(["rollout", "restart", ...of]);
      await cluster.kubectl(["rollout", "status", ...of, "--timeout=120s"]);
    }
  });

  it.each(names)("%s needs each thing that it may do", async (name) => {
    const requests = (await audit.read()).filter(({ user }) => user === accountOf(home, name));
    expect(requests.filter(({ code }) => code === 403)).toEqual([]);
    const { spec } = functionSchema.parse(parse(readFileSync(manifest(name), "utf8")));
    const used = usedBy(requests, accountOf(home, name)).union(new Set(rare[name]));
    expect(allowedBy(spec.permissions.cluster).filter((one) => !used.has(one))).toEqual([]);
  });
});

/**
 * Granted and seldom requested, or never. Admission itself checks the right to set owners that block deletion. An object is
 * looked up by its name only after an earlier run crashed between creating it and recording it. An Event is patched only
 * where it repeats. A controller may write what it owns in every way, and a ReplicaSet's pods are never replaced whole.
 */
const rare: Readonly<Record<string, readonly string[]>> = {
  replicaset: ["update replicasets/finalizers.apps", "get pods", "update pods", "patch events.events.k8s.io"],
  job: ["update jobs/finalizers.batch", "get pods", "update pods", "patch events.events.k8s.io"],
  endpointslice: [
    ...["update services/finalizers", "get endpointslices.discovery.k8s.io"],
    ...["patch endpointslices.discovery.k8s.io", "delete endpointslices.discovery.k8s.io"],
    ...["create events.events.k8s.io", "patch events.events.k8s.io"],
  ],
  daemonset: [
    ...[
      "update daemonsets/finalizers.apps",
      "get pods",
      "update pods",
      "patch pods",
      "patch events.events.k8s.io",
    ],
    ...["get controllerrevisions.apps", "update controllerrevisions.apps", "delete controllerrevisions.apps"],
  ],
  cronjob: [
    "update cronjobs/finalizers.batch",
    "get jobs.batch",
    "update jobs.batch",
    "patch jobs.batch",
    "patch events.events.k8s.io",
  ],
  deployment: ["update deployments/finalizers.apps", "get replicasets.apps", "patch events.events.k8s.io"],
};

const functionSchema = z.object({
  spec: z.object({ permissions: z.object({ cluster: z.array(ruleSchema) }) }),
});
