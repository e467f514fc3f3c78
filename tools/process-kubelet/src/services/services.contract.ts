import { builtin } from "@drover/kube";
import { freePort } from "@drover/local-servers";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { isPodReady, key, pidOf, type TestNode } from "../testing/test-node.ts";

/** The behaviour of probes, and of Services, which lead to Ready pods. */
export function servicesContract(world: () => TestNode): void {
  describe("probes", () => {
    /** A server with an answer that the test chooses, and the number of its requests. */
    const asked = async (answer: () => number) => {
      let count = 0;
      const server = createServer((_, response) => {
        count += 1;
        response.writeHead(answer()).end();
      });
      const port = await freePort();
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
      onTestFinished(() => void server.close());
      return {
        count: () => count,
        probe: { httpGet: { host: "127.0.0.1", port, path: "/" }, failureThreshold: 1 },
      };
    };
    const sleeping = (probes: object) => ({
      containers: [{ name: "main", image: "shell", args: ["exec sleep 1000"], ...probes }],
    });

    it("decide what is ready, and write nothing while that stays", async () => {
      let code = 503;
      const { count, probe } = await asked(() => code);
      await world().create("probed", sleeping({ readinessProbe: probe }));
      const running = await world().until("probed", ({ phase }) => phase === "Running");
      expect(isPodReady(running)).toBe(false);
      code = 200;
      await world().until("probed", isPodReady);
      const versionNow = async () =>
        (await world().client.get(builtin.pod, key("probed")))?.metadata.resourceVersion;
      const [version, before] = [await versionNow(), count()];
      await expect.poll(count).toBeGreaterThan(before + 3);
      expect(await versionNow()).toBe(version);
      code = 503;
      await world().until("probed", (status) => !isPodReady(status));
    });

    it("end a container that does not live, and hold back those of one that has not started", async () => {
      let code = 200;
      const { probe: livenessProbe } = await asked(() => code);
      const { count, probe } = await asked(() => (count() < 3 ? 503 : 200));
      const startupProbe = { ...probe, failureThreshold: 50 };
      await world().create("lives", sleeping({ livenessProbe, startupProbe }));
      const first = pidOf(await world().until("lives", isPodReady));
      expect(count()).toBeGreaterThanOrEqual(3);
      code = 500;
      await world().until("lives", ({ containerStatuses: [main] }) => (main?.restartCount ?? 0) > 0);
      code = 200;
      await world().until("lives", (status) => isPodReady(status) && pidOf(status) !== first);
    });
  });

  describe("a Service", () => {
    const failureSchema = z.object({ cause: z.object({ code: z.string() }) });
    const serviceSchema = z.object({ clusterIP: z.string() });
    const served = (name: string, port: number) => ({
      labels: { app: "web" },
      containers: [
        {
          name: "main",
          image: "program",
          ports: [{ name: "http", containerPort: port }],
          env: [
            { name: "HOST", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
            { name: "PORT", value: String(port) },
            { name: "NAME", value: name },
            { name: "READY_FILE", value: join(world().folder, `${name}-ready`) },
          ],
          readinessProbe: { httpGet: { port: "http", path: "/ready" }, failureThreshold: 1 },
        },
      ],
    });

    it("leads to Ready pods in turn, and refuses connections while no pod is Ready", async () => {
      const { client, folder } = world();
      const port = await freePort();
      const service = await client.create(builtin.service, {
        metadata: { name: "web", namespace: "default" },
        spec: { selector: { app: "web" }, ports: [{ port, targetPort: "http" }] },
      });
      const { clusterIP } = serviceSchema.parse(service["spec"]);
      expect(clusterIP).toMatch(/^127\.1\./);
      const ask = () =>
        fetch(`http://${clusterIP}:${port}/`).then(
          (reply) => reply.text(),
          (error: unknown) => failureSchema.parse(error).cause.code,
        );
      const refused = ["ECONNREFUSED"];
      const askMany = async () => [...new Set([await ask(), await ask(), await ask(), await ask()])].sort();

      // The same port for both: each has an address of its own.
      await world().create("web-a", served("web-a", port));
      await world().create("web-b", served("web-b", port));
      for (const name of ["web-a", "web-b"]) await world().logged(name, "listening");
      expect(await askMany()).toEqual(refused);
      await writeFile(join(folder, "web-a-ready"), "");
      await expect.poll(askMany, { timeout: 10_000 }).toEqual(["web-a"]);
      await writeFile(join(folder, "web-b-ready"), "");
      await expect.poll(askMany, { timeout: 10_000 }).toEqual(["web-a", "web-b"]);
      await rm(join(folder, "web-a-ready"));
      await expect.poll(askMany, { timeout: 10_000 }).toEqual(["web-b"]);
      await client.delete(builtin.pod, key("web-b"));
      await expect.poll(askMany, { timeout: 10_000 }).toEqual(refused);
    });
  });
}
