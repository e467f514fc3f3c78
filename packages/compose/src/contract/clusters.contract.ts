import { type Child, type ChildObject, type Compose, objectKey } from "@drover/controller";
import { builtin, connect, keyOf, type KubeClient, type KubeObject } from "@drover/kube";
import { testCluster, type TestCluster } from "@drover/testing";
import { expect, onTestFinished } from "vitest";
import type { ComposeDefinition } from "../compose-controller.ts";
import {
  controllerOfWebsites,
  kinds,
  ownsEverywhere,
  type Website,
  website,
  websiteKind,
} from "../website.fixture.ts";

export const key = objectKey({ namespace: "default", name: "a" });
export const configMap = (data: Readonly<Record<string, string>>, name = "a"): ChildObject => ({
  ...kinds.configMap,
  metadata: { name },
  data,
});

/** A ConfigMap in another namespace. */
type Elsewhere = (data: Readonly<Record<string, string>>, name?: string) => ChildObject;

let namespaces = 0;

/** A new namespace. A shared server deletes those of earlier tests, and their names cannot be used again at once. */
export async function createNamespace(client: KubeClient): Promise<string> {
  const name = `elsewhere-${++namespaces}`;
  await client.create(builtin.namespace, { metadata: { name } });
  return name;
}

export type Servers = NonNullable<Parameters<typeof testCluster>[1]>["servers"];

/** Clusters for the contracts in this folder, with a composed controller. They end with their test. */
export function composedClusters(servers: () => Servers) {
  const open = async (controller: ReturnType<typeof controllerOfWebsites>) => {
    const given = servers();
    const cluster = await testCluster(() => controller, given && { servers: given });
    onTestFinished(() => cluster.close());
    const client = await connect({ ...cluster.server, fieldManager: "another-client" });
    onTestFinished(() => client.close());
    return {
      cluster,
      client,
      as: (fieldManager: string) => client.guarded({ beforeWrite: () => undefined, fieldManager }),
    };
  };
  /** A website whose children a test declares, and may change. */
  const declaring = async (
    children: readonly Child[],
    more: Partial<ComposeDefinition<typeof Website>> = {},
  ) => {
    const declared = { children, meanwhile: (): Promise<unknown> => Promise.resolve() };
    const seen: string[][] = [];
    const compose: Compose<typeof Website> = async ({ children: { all } }) => {
      seen.push(all.map(keyOf));
      const { meanwhile } = declared;
      declared.meanwhile = () => Promise.resolve();
      await meanwhile();
      return { children: declared.children };
    };
    const opened = await open(controllerOfWebsites(compose, more));
    await opened.cluster.apply(website({ html: "" }));
    await opened.cluster.runUntilIdle();
    /** Declares other children, and has the website run again. */
    const declare = async (changed: readonly Child[]) => {
      declared.children = changed;
      await opened.cluster.apply(website({ html: String(Math.random()) }));
      await opened.cluster.runUntilIdle();
    };
    /** Others act once, after the next run has read the children, and before it writes. */
    const meanwhile = (act: () => Promise<unknown>): void => void (declared.meanwhile = act);
    return { ...opened, declare, meanwhile, seen };
  };
  /** A website with children in a new namespace, too. */
  const everywhere = async (
    children: (elsewhere: Elsewhere) => readonly Child[],
    more: Partial<ComposeDefinition<typeof Website>> = {},
  ) => {
    const opened = await declaring([], { owns: ownsEverywhere, ...more });
    const namespace = await createNamespace(opened.client);
    const elsewhere: Elsewhere = (data, name) => {
      const { metadata, ...rest } = configMap(data, name);
      return { ...rest, metadata: { ...metadata, namespace } };
    };
    await opened.declare(children(elsewhere));
    return { ...opened, elsewhere, namespace, key: objectKey({ namespace, name: "a" }) };
  };
  return { open, declaring, everywhere };
}

export const get = (cluster: TestCluster, kind: keyof typeof kinds, name = "a") =>
  cluster.get(kinds[kind], name);
export const conditionOf = async (cluster: TestCluster, type: string) => {
  const conditions = (await cluster.get(websiteKind, "a"))?.["status"];
  return (conditions as { conditions?: { type: string }[] } | undefined)?.conditions?.find(
    (one) => one.type === type,
  );
};
export const outcomes = (cluster: TestCluster): readonly string[] =>
  cluster.runs.map(({ outcome }) => outcome.kind);

export const bad = configMap({}, "Not_A_Name");

export function deployment(name: string, app = name, image = "web:1"): ChildObject {
  const labels = { app };
  return {
    ...kinds.deployment,
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image }] } },
    },
  };
}

export async function makeReady(cluster: TestCluster, name: string): Promise<void> {
  const { metadata } =
    (await cluster.get(kinds.deployment, name)) ?? expect.fail(`There is no Deployment ${name}.`);
  const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  await cluster.writeStatus({
    ...kinds.deployment,
    metadata: { name },
    status: { ...counts, observedGeneration: metadata.generation },
  });
}

export const selectorOf = async (cluster: TestCluster): Promise<unknown> => {
  const spec = (await cluster.get(kinds.deployment, "a"))?.["spec"];
  return (spec as { selector: { matchLabels: { app: string } } }).selector.matchLabels.app;
};

export const imageOf = (object: KubeObject | undefined): unknown =>
  (object?.["spec"] as { template: { spec: { containers: { image: string }[] } } } | undefined)?.template.spec
    .containers[0]?.image;
