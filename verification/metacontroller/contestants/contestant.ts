import { installCrd, type KubeClient, type ResourceRef } from "@drover/kube";
import { crdOf } from "../../harness/manifests.ts";
import type { HookServer } from "./hook-server.ts";

/** A controller of parents, in processes of its own. */
export interface Contestant {
  readonly name: string;
  /** The kind of its parents. */
  readonly parents: ResourceRef;
  /** Starts its processes; they may not be ready yet. */
  start(): Promise<void>;
  /** SIGKILL for all of them. */
  kill(): Promise<void>;
  /** The end of all that it has started. */
  stop(): Promise<void>;
}

export interface ContestantOptions {
  readonly kubeconfig: string;
  readonly client: KubeClient;
  readonly hooks: HookServer;
  /** For logs and settings. */
  readonly folder: string;
}

/** A kind of parents. Their specs may have any fields: `children` are manifests. */
export async function installParents(client: KubeClient, name: string): Promise<ResourceRef> {
  const ref = {
    group: `${name}.example.com`,
    version: "v1",
    plural: "bundles",
    kind: "Bundle",
    namespaced: true,
  };
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  await installCrd(client, { ...crdOf({ group: ref.group, kind: ref.kind, openAPIV3Schema }) });
  return ref;
}

/** How Metacontroller updates children of a kind. */
export const methodOf = (kind: string): "Recreate" | "InPlace" =>
  kind === "Secret" ? "Recreate" : "InPlace";
