import { type FunctionIdentity, ReconcileFunction } from "@drover/controller";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { object } from "./manifests.ts";

/** A sandbox, and a folder with its kubeconfig that goes away with it. */
export interface SandboxInFolder extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** The path of the kubeconfig. */
  readonly kubeconfig: string;
  /** A request past all that is tested; a PATCH merges. */
  readonly request: (method: string, path: string, body: object) => Promise<Response>;
  /** Creates an object. @returns it as the server answers. @throws with the server's answer if it refuses. */
  readonly post: (path: string, body: object) => Promise<unknown>;
  /** Defines a kind by its CustomResourceDefinition. */
  readonly define: (definition: object) => Promise<void>;
  /** Creates a ReconcileFunction; its kind and its namespace exist. */
  readonly register: (name: string, spec: object, namespace?: string) => Promise<FunctionIdentity>;
}

const createdSchema = z.looseObject({
  metadata: z.looseObject({ namespace: z.string(), name: z.string(), uid: z.string() }),
});

export async function sandboxInFolder(): Promise<SandboxInFolder> {
  const folder = mkdtempSync(join(tmpdir(), "drover-sandbox-"));
  const sandbox = await startSandbox();
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
  const { url, token } = sandbox;
  const request: SandboxInFolder["request"] = (method, path, body) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { authorization: `Bearer ${token}`, "content-type": type };
    return fetch(url + path, { method, headers, body: JSON.stringify(body) });
  };
  const post: SandboxInFolder["post"] = async (path, body) => {
    const response = await request("POST", path, body);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  return {
    sandbox,
    folder,
    kubeconfig,
    request,
    post,
    async define(definition) {
      await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    },
    async register(name, spec, namespace = "default") {
      const path = `/apis/drover.dev/v1alpha1/namespaces/${namespace}/reconcilefunctions`;
      return createdSchema.parse(await post(path, object(ReconcileFunction, name, spec, namespace))).metadata;
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      rmSync(folder, { recursive: true });
    },
  };
}
