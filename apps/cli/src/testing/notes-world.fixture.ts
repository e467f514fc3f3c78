import {
  customResourceDefinition,
  objectKey,
  queueOf,
  ReconcileFunction,
  silentLog,
} from "@drover/controller";
import { connect, installCrd, kindOf, refOf } from "@drover/kube";
import { startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, openWorkQueue, type Wake } from "@drover/queue";
import { startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { Note } from "./notes.ts";

export const noteKey = (name: string, namespace = "default") => objectKey({ namespace, name });

/** A change of a note, for the queue of its function. */
export const noteWake = (name: string, namespace = "default"): Wake => ({
  key: noteKey(name, namespace),
  kind: "notes.example.com",
  resourceVersion: "1",
  reason: "Modified",
  class: "change",
});

/** The kind of notes, as a function's spec names it. */
export const noteKind = kindOf(refOf(Note));

/**
 * A sandbox with a function `notes` and some notes, and a Redis with the function's queue, for the tests of a file; they
 * end with the file.
 *
 * @param names of the notes, in the namespace `default`.
 */
export async function notesWorldOfFile(names: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "drover-notes-"));
  const [sandbox, redis] = await Promise.all([startSandbox(), startRedis({ persistence: false })]);
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  const client = await connect({ kubeconfig });
  const connection = await connectRedis({ url: redis.url, clientName: "test", log: silentLog });
  for (const kind of [ReconcileFunction, Note])
    await installCrd(client, { ...customResourceDefinition(kind) });
  const { metadata } = await client.create(refOf(ReconcileFunction), {
    metadata: { name: "notes", namespace: "default" },
    spec: { for: noteKind, container: { image: "notes" } },
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
