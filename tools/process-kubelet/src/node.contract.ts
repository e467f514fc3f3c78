// The behaviour of the node, with any API server.
import { builtin } from "@drover/kube";
import { isRunning } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restartContract } from "./restart.contract.ts";
import { servicesContract } from "./services/services.contract.ts";
import {
  isPodReady,
  key,
  openTestNode,
  pidOf,
  type NodeTestServer,
  type TestNode,
} from "./testing/test-node.ts";

const shell = (script: string, more: object = {}) => ({
  containers: [{ name: "main", image: "shell", args: [script], ...more }],
});
const secretOf = (name: string, stringData: object) => ({
  metadata: { name, namespace: "default" },
  stringData,
});

/** The sentences, for a server that `start` brings. */
export function nodeContract(start: () => Promise<NodeTestServer>): void {
  let server: NodeTestServer;
  let world: TestNode;
  beforeAll(async () => {
    server = await start();
    world = await openTestNode(server, "contract");
  }, 900_000);
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await server.stop();
  });

  describe("a pod", () => {
    it("is bound, runs, and is Ready, with an address and a log", async () => {
      await world.create("runs", shell('echo "I am $HOSTNAME"; exec sleep 1000'));
      const status = await world.until("runs", isPodReady);
      expect(status).toMatchObject({ phase: "Running", podIP: expect.stringMatching(/^127\./) as unknown });
      expect(status.containerStatuses).toMatchObject([{ ready: true, started: true, restartCount: 0 }]);
      expect(status.conditions.map(({ type, status }) => `${type}=${status}`).sort()).toEqual([
        "ContainersReady=True",
        "Initialized=True",
        "PodScheduled=True",
        "Ready=True",
      ]);
      expect(isRunning(pidOf(status))).toBe(true);
      expect((await world.client.get(builtin.pod, key("runs")))?.["spec"]).toMatchObject({
        nodeName: "contract",
      });
      await world.logged("runs", "I am runs");
    });

    it("that ends has the phase of its exit codes", async () => {
      await world.create("good", { ...shell("exit 0"), restartPolicy: "OnFailure" });
      await world.create("bad", { ...shell("exit 3"), restartPolicy: "Never" });
      const good = await world.until("good", ({ phase }) => phase === "Succeeded");
      expect(good.containerStatuses[0]?.state.terminated).toMatchObject({ exitCode: 0, reason: "Completed" });
      const bad = await world.until("bad", ({ phase }) => phase === "Failed");
      expect(bad.containerStatuses[0]?.state.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
    });

    it("with a killed process gets another one, and the restart is counted", async () => {
      await world.create("killed", shell("exec sleep 1000"));
      const first = pidOf(await world.until("killed", isPodReady));
      process.kill(first, "SIGKILL");
      const again = await world.until("killed", (now) => isPodReady(now) && pidOf(now) !== first);
      expect(again.containerStatuses[0]).toMatchObject({
        restartCount: 1,
        lastState: { terminated: { exitCode: 137, signal: 9, reason: "Error" } },
      });
    });

    it("that keeps ending is in CrashLoopBackOff between its runs", async () => {
      await world.create("loops", shell("exit 1"));
      const looped = await world.until(
        "loops",
        ({ containerStatuses: [main] }) =>
          main?.state.waiting?.reason === "CrashLoopBackOff" && main.restartCount > 1,
      );
      expect(looped).toMatchObject({ phase: "Running" });
    });

    it("of an unknown image waits, and one with an unsupported feature is Failed", async () => {
      await world.create("no-image", { containers: [{ name: "main", image: "unknown/image:1" }] });
      await world.create("too-much", {
        ...shell("exit 0"),
        initContainers: [{ name: "first", image: "shell" }],
      });
      expect((await world.waiting("no-image", "ImagePullBackOff")).phase).toBe("Pending");
      const failed = await world.until("too-much", ({ phase }) => phase === "Failed");
      expect(failed).toMatchObject({ reason: "NotSupportedByNode" });
      expect(failed.message).toContain("initContainers");
    });
  });

  describe("a container", () => {
    it("gets its variables, arguments and files", async () => {
      await world.client.create(builtin.secret, secretOf("creds", { password: "s3cret", user: "drover" }));
      await world.client.create(builtin.configMap, {
        metadata: { name: "settings", namespace: "default" },
        data: { mode: "fast", "a.conf": "x=1\n" },
      });
      const script = [
        ...["echo own=$OWN name=$POD_NAME ns=$POD_NS app=$APP sa=$SA ip=$IP"],
        ...["echo password=$PASSWORD mode=$MODE from=$S_user under=$UNDER path=$FILE"],
        ...[
          'cat "$FILE"; echo; stat -Lc %a "$FILE" "$CONF"; cat "$CONF" "$LABELS"; echo; test -z "$HOME" && echo clean',
        ],
        'test -w "$SCRATCH" && echo "argument=$0 $1"',
      ].join("\n");
      const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
      const env = [
        field("POD_NAME", "metadata.name"),
        field("POD_NS", "metadata.namespace"),
        field("APP", "metadata.labels['app']"),
        field("SA", "spec.serviceAccountName"),
        field("IP", "status.podIP"),
        { name: "OWN", value: "$(POD_NAME)-$(ABSENT)-$$(POD_NAME)" },
        { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "creds", key: "password" } } },
        { name: "MODE", valueFrom: { configMapKeyRef: { name: "settings", key: "mode" } } },
        { name: "NONE", valueFrom: { secretKeyRef: { name: "creds", key: "none", optional: true } } },
        { name: "FILE", value: "/etc/creds/password" },
        { name: "CONF", value: "/etc/conf/own.conf" },
        { name: "LABELS", value: "/etc/about/labels" },
        { name: "SCRATCH", value: "/scratch" },
      ];
      await world.create("inputs", {
        labels: { app: "test" },
        restartPolicy: "Never",
        containers: [
          {
            name: "main",
            image: "shell",
            env,
            envFrom: [{ prefix: "S_", secretRef: { name: "creds" } }],
            args: [script, "/etc/creds/user", "$(MODE)"],
            volumeMounts: [
              { name: "creds", mountPath: "/etc/creds" },
              { name: "conf", mountPath: "/etc/conf" },
              { name: "about", mountPath: "/etc/about" },
              { name: "scratch", mountPath: "/scratch" },
            ],
          },
        ],
        volumes: [
          { name: "creds", secret: { secretName: "creds", defaultMode: 0o400 } },
          { name: "conf", configMap: { name: "settings", items: [{ key: "a.conf", path: "own.conf" }] } },
          {
            name: "about",
            projected: {
              sources: [
                { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
              ],
            },
          },
          { name: "scratch", emptyDir: {} },
        ],
      });
      const { podIP, phase } = await world.until("inputs", ({ phase }) => /Succeeded|Failed/.test(phase));
      const log = await world.log("inputs");
      expect(phase, log).toBe("Succeeded");
      expect(log).toContain(
        `own=inputs-$(ABSENT)-$(POD_NAME) name=inputs ns=default app=test sa=default ip=${podIP}\n`,
      );
      expect(log).toMatch(
        /password=s3cret mode=fast from=drover under= path=\S+\/volumes\/creds\/password\n/,
      );
      expect(log).toContain('s3cret\n400\n644\nx=1\napp="test"\nclean\n');
      expect(log).toMatch(/argument=\S+\/volumes\/creds\/user fast\n/);
    });

    it("waits for a Secret that is missing", async () => {
      const secretKeyRef = { name: "late", key: "word" };
      await world.create(
        "waits",
        shell('echo "it is $WORD"', { env: [{ name: "WORD", valueFrom: { secretKeyRef } }] }),
      );
      const waiting = await world.waiting("waits", "CreateContainerConfigError");
      expect(waiting.containerStatuses[0]?.state.waiting?.message).toBe('secret "late" not found');
      await world.client.create(builtin.secret, secretOf("late", { word: "here" }));
      await world.logged("waits", "it is here");
    });
  });

  servicesContract(() => world);
  restartContract(() => world);

  describe("a deleted pod", () => {
    /** Creates a pod that ends once its file is there; its process. */
    const running = async (name: string): Promise<number> => {
      const env = [{ name: "LEAVE_FILE", value: join(world.folder, `${name}-may-leave`) }];
      const containers = [{ name: "main", image: "program", env }];
      await world.create(name, { terminationGracePeriodSeconds: 300, containers });
      await world.logged(name, "listening");
      return pidOf(await world.until(name, isPodReady));
    };

    it("is there until its process has ended in its own time", async () => {
      const pid = await running("polite");
      await world.client.delete(builtin.pod, key("polite"));
      await world.logged("polite", "asked to leave");
      expect(await world.status("polite")).toBeDefined();
      expect(isRunning(pid)).toBe(true);
      await writeFile(join(world.folder, "polite-may-leave"), "");
      await world.gone("polite");
      expect(isRunning(pid)).toBe(false);
      expect(await world.log("polite")).toContain("leaving");
    });

    it("is killed after its grace, also one that was shortened", async () => {
      const pid = await running("stubborn");
      await world.client.delete(builtin.pod, key("stubborn"));
      await world.logged("stubborn", "asked to leave");
      await world.client.delete(builtin.pod, key("stubborn"), { gracePeriodSeconds: 1 });
      await world.gone("stubborn");
      expect(isRunning(pid)).toBe(false);
    });

    it("that is gone by force takes its process along", async () => {
      const pid = await running("forced");
      await world.client.delete(builtin.pod, key("forced"), { gracePeriodSeconds: 0 });
      await world.gone("forced");
      await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false);
    });
  });
}
