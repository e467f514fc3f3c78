import { objectKey, ReconcileFunction, silentLog } from "@drover/controller";
import { connect, type KubeClient, type KubeObject, refOf } from "@drover/kube";
import { type RedisServer, startRedis, thisMachine, type TiedProcess } from "@drover/local-servers";
import { redisUserRules } from "@drover/queue";
import {
  type AuditedRequest,
  auditLog,
  type CertifiedUser,
  type FakeNodeCluster,
  startClusterWithFakeNodes,
} from "@drover/real-cluster";
import { Redis } from "ioredis";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { z } from "zod";
import { boundRole } from "../harness/rbac.ts";
import { root } from "../harness/repository-files.ts";
import { startProcess } from "../harness/start-process.ts";

/**
 * Drover as the manifests install it, on a real API server with RBAC and kube-controller-manager: bridge, deployer and
 * gateway are the shipped processes, each with the token of its own ServiceAccount and its own Redis user. Nodes are not
 * real: Pods become Running and run nothing.
 */
export interface Installation {
  readonly cluster: FakeNodeCluster;
  /** As the administrator of the cluster. */
  readonly admin: KubeClient;
  /** As the administrator of Redis. */
  readonly redis: Redis;
  /** A URL of Redis as one of its users. */
  readonly redisUrlOf: (user: "bridge" | "deployer" | "gateway") => string;
  readonly redisUrlOfAdmin: string;
  /** kubectl as the administrator, or with another kubeconfig; resolves with its output. @throws with its error output when it fails. */
  readonly kubectl: (args: readonly string[], options?: KubectlOptions) => Promise<string>;
  /** Applies objects, as the administrator or another. */
  readonly apply: (objects: readonly object[], options?: Pick<KubectlOptions, "as">) => Promise<string>;
  /** A field of a function, by its JSONPath, such as `.metadata.uid`; empty where it has none. @throws where there is no such function. */
  readonly fieldOf: (namespace: string, name: string, path: string) => Promise<string>;
  /** The kubeconfig of a user with a certificate of the cluster. */
  readonly kubeconfigOf: (user: CertifiedUser) => Promise<string>;
  /** The kubeconfig of a ServiceAccount. */
  readonly kubeconfigOfAccount: (namespace: string, name: string) => Promise<string>;
  /** The decision of the cluster's own authorizer about a user. */
  readonly may: (user: CertifiedUser, verb: string, resource: string, namespace?: string) => Promise<boolean>;
  /** A namespace of its own for one attack. */
  readonly namespace: (name: string) => Promise<string>;
  /** Grants a user these RBAC rules, in one namespace or everywhere. */
  readonly grant: (user: CertifiedUser, rules: readonly object[], namespace?: string) => Promise<void>;
  /** The Ready condition of a function once the deployer has judged the generation that it has now. */
  readonly judged: (
    namespace: string,
    name: string,
  ) => Promise<{ readonly status: string; readonly reason: string; readonly message: string }>;
  /** Has its author ask for a function until it is permitted: an epoch may have begun just now. */
  readonly permitted: (namespace: string, name: string, as: string) => Promise<void>;
  /** Waits until `look` returns a value other than false. @throws after 90 s. */
  readonly until: <T>(what: string, look: () => Promise<T | undefined | false>) => Promise<T>;
  /** The gateway's requests, from the API server's audit log. */
  readonly audited: () => Promise<readonly AuditedRequest[]>;
  /** Kills bridge, deployer and gateway, as when their Pods are gone. */
  readonly killParts: () => Promise<void>;
  /** Applies the manifests, and starts bridge, deployer and gateway. */
  readonly install: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface KubectlOptions {
  readonly as?: string;
  readonly input?: string;
}

const own = "drover";
const parts = ["bridge", "deployer", "gateway"] as const;
const manifests = [
  ...["apps/bridge/deploy/crd.yaml", "apps/deployer/deploy/authors.yaml"],
  ...parts.map((part) => `apps/${part}/deploy/rbac.yaml`),
];
const conditionsSchema = z.looseObject({
  observedGeneration: z.number().optional(),
  conditions: z
    .array(z.looseObject({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() }))
    .default([]),
});

/** The Ready condition of an object, once its controller has seen the spec that it has now. */
export function readyOf(object: KubeObject | undefined) {
  const { data } = conditionsSchema.safeParse(object?.["status"]);
  return data?.observedGeneration === object?.metadata.generation
    ? data?.conditions.find(({ type }) => type === "Ready")
    : undefined;
}

/** No proxy forwards a Service's address here: a call to one must not leave this machine. */
const servicesOnLoopback = "--service-cluster-ip-range=127.64.0.0/16";

export async function startInstallation(log: (line: string) => void): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), "drover-attacked-"));
  const audit = await auditLog(["system:serviceaccount:drover:gateway"], []);
  const [cluster, server] = await Promise.all([
    startClusterWithFakeNodes({ log, apiServerArgs: [...audit.apiServerArgs, servicesOnLoopback] }),
    startRedis({ persistence: true }),
  ]);
  const started: TiedProcess[] = [];
  const killParts = async (): Promise<void> => {
    const parts = started.splice(0);
    for (const child of parts) child.kill("SIGKILL");
    await Promise.all(parts.map(({ exited }) => exited));
  };
  const redis = new Redis(server.url);
  const admin = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "admin", log: silentLog });
  const run = promisify(execFile);
  const kubectl: Installation["kubectl"] = async (args, { as, input } = {}) => {
    const running = run(cluster.kubectl, [...(as === undefined ? [] : ["--kubeconfig", as]), ...args], {
      maxBuffer: 1e8,
    });
    if (input !== undefined) running.child.stdin?.end(input);
    return (await running).stdout;
  };
  const apply: Installation["apply"] = (items, options = {}) =>
    kubectl(["apply", "-f", "-"], {
      ...options,
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
    });
  const until: Installation["until"] = async (what, look) => {
    const end = Date.now() + 90_000;
    for (;;) {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      if (Date.now() > end) throw new Error(`Not so within 90 s: ${what}`);
      await delay(200);
    }
  };
  const fieldOf: Installation["fieldOf"] = (namespace, name, path) =>
    kubectl(["get", "rf", name, "-n", namespace, "-o", `jsonpath={${path}}`]);
  const installation: Installation = {
    cluster,
    admin,
    redis,
    kubectl,
    fieldOf,
    apply,
    until,
    kubeconfigOfAccount: (namespace, name) => cluster.kubeconfigOfAccount(namespace, name),
    redisUrlOf: (user) => urlOf(server, user),
    redisUrlOfAdmin: server.url,
    kubeconfigOf: (user) => cluster.kubeconfigFor(user),
    async may({ user, groups = [] }, verb, resource, namespace) {
      const where = namespace === undefined ? ["--all-namespaces"] : ["-n", namespace];
      const as = ["--as", user, ...groups.flatMap((group) => ["--as-group", group])];
      const answer = await kubectl(["auth", "can-i", verb, resource, ...where, ...as]).catch(() => "no");
      return answer.trim() === "yes";
    },
    async namespace(name) {
      await apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name } }]);
      await until(`${name} has a ServiceAccount`, () =>
        kubectl(["get", "serviceaccount", "default", "-n", name]).then(Boolean, () => false),
      );
      return name;
    },
    async grant({ user }, rules, namespace) {
      const author = user.replaceAll(/[^a-z0-9]/g, "-");
      const metadata = {
        name: `${author}-${Math.random().toString(36).slice(2)}`,
        labels: { author },
        ...(namespace !== undefined && { namespace }),
      };
      await apply(boundRole(metadata, rules, { kind: "User", name: user }));
    },
    judged: (namespace, name) =>
      until(`the deployer has judged ${namespace}/${name}`, async () => {
        const object = await admin.get(refOf(ReconcileFunction), objectKey({ namespace, name }));
        const ready = readyOf(object);
        return ready?.reason === "Deploying" || ready?.reason === "AuthorsUnguarded" ? undefined : ready;
      }),
    async permitted(namespace, name, as) {
      const uid = await fieldOf(namespace, name, ".metadata.uid");
      await until(`${namespace}/${name} is permitted`, async () => {
        const ask = ["annotate", "--overwrite", "rf", name, "-n", namespace, `drover.dev/ask=${Date.now()}`];
        await kubectl(ask, { as });
        await delay(1_000);
        return kubectl(["get", "configmap", `permit-${uid}`, "-n", own]).then(Boolean, () => false);
      });
    },
    audited: audit.read,
    killParts,
    async install() {
      await applyManifests(installation);
      for (const part of parts) started.push(await startPart(part, installation, folder));
      await until("the deployer has made an epoch", () =>
        kubectl(["get", "authorepochs", "authors"]).then(Boolean, () => false),
      );
      const registration = ["apply", "-n", own, "-f", join(root, "apps/deployer/deploy/function.yaml")];
      await until("the deployer is registered", () => kubectl(registration).then(Boolean, () => false));
    },
    async stop() {
      await killParts();
      redis.disconnect();
      await admin.close();
      await Promise.all([cluster.stop(), server.stop()]);
      await audit.remove();
      rmSync(folder, { recursive: true });
    },
  };
  try {
    await installation.install();
    return installation;
  } catch (error) {
    await installation.stop();
    throw error;
  }
}

async function applyManifests({ kubectl, apply, redis, until }: Installation): Promise<void> {
  await apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: own } }]);
  const files = manifests.flatMap((file) => ["-f", join(root, file)]);
  await until("the manifests are applied", () => kubectl(["apply", ...files]).then(Boolean, () => false));
  for (const part of parts) {
    const rules = redisUserRules({ role: part, controllers: "all" }).split(" ");
    await redis.call("ACL", "SETUSER", part, ...rules, `>${passwordOf(part)}`);
  }
}

const passwordOf = (part: string): string => `secret-of-${part}`;
function urlOf(server: RedisServer, user: string): string {
  const url = new URL(server.url);
  [url.username, url.password] = [user, passwordOf(user)];
  return url.href;
}

async function startPart(
  part: (typeof parts)[number],
  { redisUrlOf, kubeconfigOfAccount }: Installation,
  folder: string,
): Promise<TiedProcess> {
  return startProcess({
    name: part,
    main: `apps/${part}/src/main.ts`,
    logFile: join(folder, `${part}.log`),
    awaited: "Serving /healthz",
    // Attacks that are functions verify and sign with the time of this process.
    ...(part === "gateway" && { machine: thisMachine }),
    env: {
      DROVER_REDIS_URL: redisUrlOf(part),
      DROVER_KUBECONFIG: await kubeconfigOfAccount(own, part),
      ...(part === "deployer" && { DROVER_FUNCTION: `${own}/reconcilefunctions.drover.dev` }),
    },
  });
}
