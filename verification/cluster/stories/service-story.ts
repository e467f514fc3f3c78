// A Service in front of pods that really run: it answers every request while they are rolled out, scaled and replaced.
import { z } from "zod";
import { images } from "./deployment-story.ts";
import { eventually, type PodCluster } from "../pod-cluster.ts";

const labels = { app: "shop" };
/** A pod that is to end still answers while its address is taken from all nodes. */
const container = {
  name: "web",
  image: images.first,
  ports: [{ name: "http", containerPort: 8080 }],
  readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 1 },
  lifecycle: { preStop: { sleep: { seconds: 5 } } },
};
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "shop" },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container], terminationGracePeriodSeconds: 10 } },
  },
};
const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "shop", labels: { team: "shop" } },
  spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: "http" }] },
};

const endpoint = z.object({
  addresses: z.array(z.string()),
  conditions: z.object({ ready: z.boolean(), serving: z.boolean(), terminating: z.boolean() }),
  targetRef: z.object({ kind: z.string(), name: z.string(), namespace: z.string() }),
  nodeName: z.string(),
});
const sliceList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()), generateName: z.string() }),
      addressType: z.string(),
      ports: z.array(z.object({ name: z.string(), port: z.number(), protocol: z.string() })),
      endpoints: z.array(endpoint),
    }),
  ),
});
const podList = z.object({ items: z.array(z.object({ status: z.object({ podIP: z.string() }) })) });

/** Plays it in a namespace of its own, and returns what two runs have in common. */
export async function playService(cluster: PodCluster, namespace: string): Promise<unknown> {
  const kubectl = (args: string) => cluster.kubectl([`--namespace=${namespace}`, ...args.split(" ")]);
  await cluster.kubectl(["create", "namespace", namespace]);
  const list = { apiVersion: "v1", kind: "List", items: [deployment, service] };
  await cluster.kubectl([`--namespace=${namespace}`, "apply", "-f", "-"], { input: JSON.stringify(list) });
  const complete = "rollout status deployment/shop --timeout=120s";
  await kubectl(complete);
  const url = `http://${await kubectl("get service shop -o=jsonpath={.spec.clusterIP}")}`;
  await eventually(() => ask(cluster, url));
  const asking = new AbortController();
  const asked = askUntil(cluster, url, asking.signal);
  for (const image of [images.second, images.first]) {
    await kubectl(`set image deployment/shop web=${image}`);
    await kubectl(complete);
  }
  for (const replicas of [4, 1]) {
    await kubectl(`scale deployment/shop --replicas=${replicas}`);
    await kubectl(complete);
  }
  asking.abort();
  const failures = await asked;
  const slices = await eventually(async () => {
    const get = async <Schema extends z.ZodType>(what: string, schema: Schema) =>
      schema.parse(JSON.parse(await kubectl(`get ${what} -o json`)));
    const pods = (await get("pods", podList)).items.map(({ status }) => status.podIP);
    const found = (await get("endpointslices", sliceList)).items;
    const addresses = found.flatMap(({ endpoints }) => endpoints.flatMap((one) => one.addresses));
    if (pods.length !== 1 || pods.join() !== addresses.join())
      throw new Error(`The pods have ${pods.join()}, and the slices ${addresses.join()}.`);
    return found;
  });
  await kubectl("delete service shop");
  await kubectl("wait --for=delete endpointslices --all --timeout=60s");
  return { failures, slices: withoutNames(slices, namespace) };
}

const ask = (cluster: PodCluster, url: string): Promise<unknown> =>
  cluster.exec([
    "curl",
    "--silent",
    "--show-error",
    "--fail",
    "--max-time",
    "10",
    "--output",
    "/dev/null",
    url,
  ]);

/** Asks one time after the other, and returns the errors. */
async function askUntil(cluster: PodCluster, url: string, signal: AbortSignal): Promise<readonly string[]> {
  const failures: string[] = [];
  while (!signal.aborted) await ask(cluster, url).catch((error: unknown) => failures.push(String(error)));
  return failures;
}

const withoutNames = (slices: z.output<typeof sliceList>["items"], namespace: string): unknown =>
  JSON.parse(
    JSON.stringify(slices)
      .replaceAll(namespace, "here")
      .replace(/"shop-[a-z0-9]+-[a-z0-9]{5}"/g, '"a pod"')
      .replace(/"\d+[.]\d+[.]\d+[.]\d+"/g, '"an address"'),
  );
