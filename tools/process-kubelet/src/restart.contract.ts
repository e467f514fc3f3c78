import { builtin } from "@drover/kube";
import { isRunning, spawnTied, type TiedProcess } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { images, isPodReady, key, pidOf, type TestNode } from "./testing/test-node.ts";

/** The tests' own settings, which the process would refuse. */
const ofTests = Object.fromEntries(
  Object.keys(process.env).flatMap((name) => (name.startsWith("DROVER_") ? [[name, undefined]] : [])),
);

/** The behaviour of a node that is killed, as a separate process. */
export function restartContract(world: () => TestNode): void {
  const startProcess = async (): Promise<TiedProcess> => {
    const { folder, nodeOptions } = world();
    const file = join(folder, "images.json");
    await writeFile(file, JSON.stringify(images));
    const ready = Promise.withResolvers<undefined>();
    const child = await spawnTied({
      name: "node",
      command: process.execPath,
      args: [join(import.meta.dirname, "main.ts")],
      logFile: join(folder, "node.log"),
      env: {
        ...ofTests,
        DROVER_KUBECONFIG: nodeOptions.kubeconfig,
        DROVER_NODE_IMAGES: file,
        DROVER_NODE_NAME: "mortal",
        DROVER_NODE_FOLDER: folder,
        DROVER_NODE_POD_CIDR: nodeOptions.podCidr
          .replace(/\.0\/24$/, ".128/25")
          .replace(/^127\.(\d+)/, "127.253"),
      },
      onLine(line) {
        if (line.includes("Running pods as processes")) ready.resolve(undefined);
      },
    });
    onTestFinished(() => void child.stop());
    const exit = await Promise.race([ready.promise, child.exited]);
    expect(exit, "the node has ended; its log is node.log").toBeUndefined();
    return child;
  };
  const here = { nodeSelector: { "kubernetes.io/hostname": "mortal" } };
  const running = (restartPolicy: string, script: string) => ({
    ...here,
    restartPolicy,
    containers: [{ name: "main", image: "shell", args: [script] }],
  });

  describe("a node that is killed and started again", () => {
    it("takes its processes along, and runs again what is to run", async () => {
      const before = await startProcess();
      await world().create("always", running("Always", "exec sleep 1000"));
      await world().create("never", running("Never", "exec sleep 1000"));
      await world().create("done", running("OnFailure", "echo once"));
      await world().create("deleted", running("Always", "exec sleep 1000"));
      await world().until("deleted", isPodReady);
      const always = await world().until("always", isPodReady);
      const never = await world().until("never", isPodReady);
      await world().until("done", ({ phase }) => phase === "Succeeded");

      before.kill("SIGKILL");
      await before.exited;
      await world().client.delete(builtin.pod, key("deleted"));
      expect(await world().status("deleted")).toBeDefined();
      for (const status of [always, never])
        await expect.poll(() => isRunning(pidOf(status)), { timeout: 10_000 }).toBe(false);

      await startProcess();
      await world().gone("deleted");
      const again = await world().until("always", (now) => isPodReady(now) && pidOf(now) !== pidOf(always));
      expect(again).toMatchObject({
        podIP: always.podIP,
        containerStatuses: [
          { restartCount: 1, lastState: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } } },
        ],
      });
      const failed = await world().until("never", ({ phase }) => phase === "Failed");
      expect(failed.containerStatuses[0]).toMatchObject({
        restartCount: 0,
        state: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } },
      });
      expect(await world().log("done")).toBe("once\n");
    });

    it("reports at an orderly end that no pod is ready", async () => {
      const child = await startProcess();
      const status = await world().until("always", isPodReady);
      await child.stop({ graceMs: 30_000 });
      expect(isRunning(pidOf(status))).toBe(false);
      expect(isPodReady(await world().until("always", (now) => !isPodReady(now)))).toBe(false);
    });
  });
}
