import {
  customResourceDefinition,
  defineController,
  defineFunction,
  functionManifestOf,
  namesQueueOf,
  queueOf,
  objectKey,
  type PermissionRule,
  type Permissions,
  silentLog,
} from "@drover/controller";
import {
  builtin,
  connect,
  controllerReference,
  createOrReplace,
  installCrd,
  kindOf,
  type KubeClient,
  refOf,
} from "@drover/kube";
import { type RedisServer, spawnTied, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, openWorkQueue, type RedisConnection } from "@drover/queue";
import { ownersAreChecked, type RealCluster, startRealCluster } from "@drover/real-cluster";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderOfFile } from "../../../../packages/testing/src/folder.fixture.ts";
import { Note, notesAnywhere, notesAtHome } from "../testing/notes.ts";

const main = new URL("../testing/notes.ts", import.meta.url).pathname;
const note = refOf(Note);
let cluster: RealCluster;
let redis: RedisServer;
let connection: RedisConnection;
let admin: KubeClient;
const folder = folderOfFile();
let kubeconfig: string;
let count = 0;

beforeAll(async () => {
  [cluster, redis] = await Promise.all([
    startRealCluster({ apiServerArgs: [ownersAreChecked] }),
    startRedis({ persistence: false }),
  ]);
  connection = await connectRedis({ url: redis.url, clientName: "test", log: silentLog });
  admin = await connect({ kubeconfig: cluster.kubeconfig });
  await installCrd(admin, { ...customResourceDefinition(Note) });
  await admin.create(builtin.serviceAccount, { metadata: { name: "notes", namespace: "default" } });
  const word = Buffer.from("please").toString("base64");
  await admin.create(builtin.secret, {
    metadata: { name: "word", namespace: "default" },
    data: { word },
  });
  kubeconfig = await cluster.kubeconfigOfAccount("default", "notes");
}, 900_000);
afterAll(async () => {
  await disconnectRedis(connection);
  await admin.close();
  await Promise.all([cluster.stop(), redis.stop()]);
});

/** The API server's RBAC authorizer follows a watch: waits until a review confirms the rule. */
async function grant({ namespace: here = [], cluster: everywhere = [] }: Permissions): Promise<void> {
  const subjects = [{ kind: "ServiceAccount", name: "notes", namespace: "default" }];
  const metadata = { name: "notes" };
  const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name: "notes" });
  const local = { ...metadata, namespace: "default" };
  const mark = `mark-${count++}`;
  const marked = { apiGroups: ["example.com"], resources: [mark], verbs: ["get"] };
  await createOrReplace(admin, builtin.role, { metadata: local, rules: [...here] });
  await createOrReplace(admin, builtin.roleBinding, { metadata: local, subjects, roleRef: roleRef("Role") });
  await createOrReplace(admin, builtin.clusterRole, { metadata, rules: [...everywhere, marked] });
  await createOrReplace(admin, builtin.clusterRoleBinding, {
    metadata,
    subjects,
    roleRef: roleRef("ClusterRole"),
  });
  const asked = {
    user: "system:serviceaccount:default:notes",
    resourceAttributes: { verb: "get", group: "example.com", resource: mark },
  };
  await expect
    .poll(() => admin.review(builtin.subjectAccessReview, asked), { timeout: 30_000 })
    .toMatchObject({ allowed: true });
}

/** A whole life of an object, under what is granted: undefined, or the first request that was forbidden. */
async function runLifecycle(): Promise<string | undefined> {
  const name = `note-${count++}`;
  const key = objectKey({ namespace: "default", name });
  const forbidden = Promise.withResolvers<string>();
  const logFile = join(folder, `${name}.log`);
  const child = await spawnTied({
    name: "notes",
    command: process.execPath,
    args: [main],
    logFile,
    env: {
      DROVER_REDIS_URL: redis.url,
      DROVER_KUBECONFIG: kubeconfig,
      DROVER_TEST_CLUSTER: undefined,
      DROVER_KUBECTL: undefined,
    },
    onLine(line) {
      const [, request] = /answered 403 to (\w+ [^\s:?]+)/.exec(line) ?? [];
      if (request !== undefined) forbidden.resolve(request.replaceAll(/note-\d+[.\w]*/g, "NAME"));
    },
  });
  const open = (controller: string) => openWorkQueue({ redis: connection, controller, log: silentLog });
  const own = queueOf({ name: "notes" });
  const notes = open(own);
  const names = open(namesQueueOf(own, { plural: "configmaps", group: "" }));
  const wake = { key, kind: "any", resourceVersion: "0", reason: "Test", class: "change" } as const;
  try {
    await admin.create(builtin.configMap, { metadata: { name, namespace: "default" } });
    await admin.create(note, { metadata: { name, namespace: "default" }, spec: {} });
    await names.wake([wake]);
    const lived = (async () => {
      await expect
        .poll(() => admin.get(note, key), { timeout: 60_000 })
        .toMatchObject({
          status: { secret: "please" },
        });
      await admin.delete(note, key);
      await notes.wake([wake]);
      await expect.poll(() => admin.get(note, key), { timeout: 60_000 }).toBeUndefined();
    })();
    const early = await Promise.race([lived, forbidden.promise]);
    lived.catch(() => {});
    await child.stop();
    if (early !== undefined) return early;
    forbidden.resolve("");
    const late = await forbidden.promise;
    if (late !== "") return late;
    expect(await counted(name)).toBe(2);
    return undefined;
  } finally {
    await child.stop();
    await Promise.all([notes.close(), names.close()]);
    await admin.patch(note, key, { type: "merge", body: { metadata: { finalizers: null } } }).catch(() => {});
    await admin.delete(note, key);
    await connection.call("FLUSHALL", []);
  }
}

/** The count of the Events that reported the object as not ready yet. */
async function counted(name: string): Promise<unknown> {
  const { items } = await admin.list(builtin.event, { namespace: "default" });
  const event = items.find(
    (item) => item.metadata.name.startsWith(`${name}.`) && item["reason"] === "NotYet",
  );
  const series = event?.["series"];
  return typeof series === "object" && series !== null && "count" in series ? series.count : undefined;
}

const methods: Readonly<Record<string, string>> = {
  get: "GET",
  patch: "PATCH",
  update: "PUT",
  create: "POST",
};

interface Without {
  readonly lacking: string;
  readonly permissions: Permissions;
}

/** The permissions without one verb of one rule, for every verb. */
function withoutEach(permissions: Permissions): readonly Without[] {
  return (["namespace", "cluster"] as const).flatMap((scope) => {
    const rules: readonly PermissionRule[] = permissions[scope] ?? [];
    return rules.flatMap((rule, index) =>
      rule.verbs.map((verb) => ({
        lacking: `${verb} ${rule.resources.join()}`,
        permissions: {
          ...permissions,
          [scope]: rules
            .toSpliced(index, 1, { ...rule, verbs: rule.verbs.filter((one) => one !== verb) })
            .filter(({ verbs }) => verbs.length > 0),
        },
      })),
    );
  });
}

describe.each([
  ["anywhere", notesAnywhere],
  ["in its own namespace", notesAtHome],
] as const)("the permissions that follow from the code of a function of objects %s", (_where, definition) => {
  const { permissions = {} } = functionManifestOf(definition).spec;

  it("are enough for the whole life of an object", { timeout: 120_000 }, async () => {
    await grant(permissions);
    expect(await runLifecycle()).toBeUndefined();
  });

  it.each(withoutEach(permissions))(
    "are too few without: $lacking",
    { timeout: 120_000 },
    async (without) => {
      await grant(without.permissions);
      const request = await runLifecycle();
      const [verb = "", resource = ""] = without.lacking.split(" ");
      const [plural = "", subresource = ""] = resource.split("/");
      expect(request).toMatch(new RegExp(`^${methods[verb]!} /api.*/${plural}\\b.*${subresource}$`));
    },
  );
});

describe("the permissions of a function that owns objects, where the API server checks owner references", () => {
  const { configMap } = builtin;
  const owner = defineController({
    for: Note,
    owns: [{ kind: kindOf(configMap) }],
    reconcile: () => Promise.resolve({}),
  });
  const definition = defineFunction({ controller: owner, deployment: { container: { image: "notes:1" } } });
  const { permissions = {} } = functionManifestOf(definition).spec;
  const make = async (name: string): Promise<unknown> => {
    const metadata = { name, namespace: "default" };
    const { metadata: parent } = await admin.create(note, { metadata, spec: {} });
    const ownerReferences = [controllerReference({ ref: note, metadata: parent })];
    const account = await connect({ kubeconfig });
    return account
      .create(configMap, { metadata: { ...metadata, ownerReferences } })
      .finally(() => account.close());
  };

  it("are enough to make one", async () => {
    await grant(permissions);
    await make("owning");
  });

  it("are too few without notes/finalizers", async () => {
    const cluster = permissions.cluster?.filter(({ resources }) => resources[0] !== "notes/finalizers");
    await grant({ cluster });
    await expect(make("refused")).rejects.toThrow(/cannot set blockOwnerDeletion/);
  });
});
