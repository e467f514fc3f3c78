import type { Sandbox } from "@drover/sandbox";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

/** Does what `kubectl apply -f functions/s3-bucket/deploy/crd.yaml` does in a new cluster. */
export async function installBuckets({ url, token }: Pick<Sandbox, "url" | "token">): Promise<void> {
  const file = resolve(import.meta.dirname, "../../../../functions/s3-bucket/deploy/crd.yaml");
  const { ok, status } = await fetch(`${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(parse(readFileSync(file, "utf8"))),
  });
  if (!ok) throw new Error(`The API server refused the CRD: ${status}`);
}
