import { objectKey } from "@drover/controller";
import { builtin, connect, type KubeClient, type KubeObject } from "@drover/kube";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { z } from "zod";
import type { Images } from "../images.ts";
import { randomRange } from "../pods/pod-addresses.ts";
import { type NodeOptions, startNode } from "../start-node.ts";

/** An API server for tests, sandbox or real. */
export interface NodeTestServer {
  /** Path of a kubeconfig. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** Shells and the test program. */
export const images: Images = {
  shell: { command: ["/bin/sh", "-c"], args: ["echo no command; exit 64"] },
  program: {
    command: [process.execPath, join(import.meta.dirname, "program.ts")],
    env: { NODE_NO_WARNINGS: "1", NAME: "of the image" },
  },
};

const stateSchema = z.looseObject({
  waiting: z.looseObject({ reason: z.string(), message: z.string().optional() }).optional(),
  running: z.looseObject({ startedAt: z.string() }).optional(),
  terminated: z
    .looseObject({ exitCode: z.number(), reason: z.string(), signal: z.number().optional() })
    .optional(),
});
const statusSchema = z.looseObject({
  phase: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
  podIP: z.string().default(""),
  conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).default([]),
  containerStatuses: z
    .array(
      z.looseObject({
        name: z.string(),
        ready: z.boolean(),
        restartCount: z.number(),
        state: stateSchema,
        lastState: stateSchema.default({}),
        containerID: z.string().optional(),
      }),
    )
    .default([]),
});
export type ObservedStatus = z.output<typeof statusSchema>;

export interface PodInput {
  readonly labels?: Readonly<Record<string, string>>;
  readonly [specField: string]: unknown;
}

/** One server with a node, as a test uses it. */
export interface TestNode extends AsyncDisposable {
  readonly client: KubeClient;
  readonly folder: string;
  readonly nodeOptions: NodeOptions & { readonly kubeconfig: string; readonly podCidr: string };
  create(name: string, draft: PodInput): Promise<KubeObject>;
  status(name: string): Promise<ObservedStatus | undefined>;
  /** Waits until the pod's status is like this. */
  until(name: string, isSo: (status: ObservedStatus) => boolean): Promise<ObservedStatus>;
  /** Waits until its container waits for this reason. */
  waiting(name: string, reason: string): Promise<ObservedStatus>;
  gone(name: string): Promise<void>;
  log(name: string): Promise<string>;
  logged(name: string, text: string): Promise<void>;
}

export const key = (name: string) => objectKey({ namespace: "default", name });
export const isPodReady = ({ conditions }: ObservedStatus): boolean =>
  conditions.some(({ type, status }) => type === "Ready" && status === "True");
export const pidOf = (status: ObservedStatus): number =>
  Number(status.containerStatuses[0]?.containerID?.replace("process://", ""));

const pollOptions = { timeout: 20_000, interval: 10 };

/** A node against a server, in a folder and with addresses of its own. */
export async function openTestNode(server: NodeTestServer, name: string): Promise<TestNode> {
  const folder = await mkdtemp(join(tmpdir(), "drover-node-"));
  const client = await connect({ kubeconfig: server.kubeconfig });
  const podCidr = randomRange();
  const shared = { kubeconfig: server.kubeconfig, name, images, folder, podCidr };
  const nodeOptions = { ...shared, probePeriod: 100, backOff: { first: 20, most: 200 } };
  const node = await startNode(nodeOptions);
  const status: TestNode["status"] = async (pod) => {
    const object = await client.get(builtin.pod, key(pod));
    return object && statusSchema.parse(object["status"]);
  };
  const log: TestNode["log"] = (pod) =>
    readFile(join(folder, `default_${pod}_main.log`), "utf8").catch(() => "");
  const until: TestNode["until"] = async (pod, isSo) => {
    let last: ObservedStatus | undefined;
    await expect
      .poll(async () => {
        last = await status(pod);
        return last !== undefined && isSo(last) ? "so" : last;
      }, pollOptions)
      .toBe("so");
    return statusSchema.parse(last);
  };
  return {
    client,
    folder,
    nodeOptions,
    status,
    log,
    create(pod, { labels = {}, ...spec }) {
      const metadata = { name: pod, namespace: "default", labels };
      return client.create(builtin.pod, { metadata, spec });
    },
    until,
    waiting: (pod, reason) =>
      until(pod, ({ containerStatuses: [main] }) => main?.state.waiting?.reason === reason),
    async gone(pod) {
      await expect.poll(() => status(pod), pollOptions).toBeUndefined();
    },
    async logged(pod, text) {
      await expect.poll(() => log(pod), pollOptions).toContain(text);
    },
    async [Symbol.asyncDispose]() {
      await node.stop();
      await client.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
