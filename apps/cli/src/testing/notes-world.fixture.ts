import {
  customResourceDefinition,
  objectKey,
  type QueueName,
  queueOf,
  ReconcileFunction,
  silentLog,
} from "@drover/controller";
import { connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { type RedisServer, startRedis } from "@drover/local-servers";
import {
  connectRedis,
  disconnectRedis,
  openWorkQueue,
  type RedisConnection,
  type Wake,
  type WorkQueue,
} from "@drover/queue";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { Note } from "./notes.ts";

/** A sandbox with a function `notes` and some notes, and a Redis with the function's queue. */
export interface NotesWorld {
  readonly client: KubeClient;
  readonly sandbox: Sandbox;
  readonly redis: RedisServer;
  readonly connection: RedisConnection;
  /** The function's queue, and its name. */
  readonly queue: WorkQueue;
  readonly controller: QueueName;
  readonly kubeconfig: string;
}

export const noteKey = (name: string, namespace = "default") => objectKey({ namespace, name });

/** A change of a note, for the queue of its function. */
export const noteWake = (name: string, namespace = "default"): Wake => ({
  key: noteKey(name, namespace),
  kind: "notes.example.com",
  resourceVersion: "1",
  reason: "Modified",
  class: "change",
});

/**
 * A world for the tests of a file; it ends with the file.
 *
 * @param names of the notes, in the namespace `default`.
 */
export async function notesWorldOfFile(names: readonly string[]): Promise<NotesWorld> {
  const folder = mkdtempSync(join(tmpdir(), "drover-notes-"));
  const [sandbox, redis] = await Promise.all([startSandbox(), startRedis({ persistence: false })]);
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  const client = await connect({ kubeconfig });
  const connection = await connectRedis({ url: redis.url, clientName: "test", log: silentLog });
  for (const kind of [ReconcileFunction, Note])
    await installCrd(client, { ...customResourceDefinition(kind) });
  const { group, version, kind, plural, scope } = Note;
  const { metadata } = await client.create(refOf(ReconcileFunction), {
    metadata: { name: "notes", namespace: "default" },
    spec: { for: { group, version, kind, plural, scope }, container: { image: "notes" } },
  });
  for (const name of names) {
    await client.create(refOf(Note), { metadata: { name, namespace: "default" }, spec: {} });
  }
  const controller = queueOf(metadata);
  const queue = openWorkQueue({ redis: connection, controller, log: silentLog });
  afterAll(async () => {
    await queue.close();
    await disconnectRedis(connection);
    await client.close();
    await Promise.all([sandbox.close(), redis.stop()]);
    rmSync(folder, { recursive: true });
  });
  return { client, sandbox, redis, connection, queue, controller, kubeconfig };
}
