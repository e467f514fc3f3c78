import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";

/** The namespace in KEDA's own manifests. */
export const kedaNamespace = "keda";

/** Runs kubectl, and returns its output. */
export type Kubectl = (...args: readonly string[]) => Promise<string>;
export const kubectlOf =
  (program: string): Kubectl =>
  async (...args) =>
    (await promisify(execFile)(program, args, { maxBuffer: 2 ** 26 })).stdout;

const patience = "--timeout=120s";

/**
 * Applies KEDA's own manifests, except those of its Pods, and of the Service of its metrics: here, that is `port` of
 * loopback.
 */
export async function installKeda(kubectl: Kubectl, sources: string, port: number): Promise<void> {
  const config = (name: string) => join(sources, "config", name);
  const apply = (flag: "-f" | "-k", name: string) => kubectl("apply", "--server-side", flag, config(name));
  for (const part of ["general", "crd", "service_account", "rbac"]) await apply("-k", part);
  for (const part of ["role", "role_binding", "api_service"])
    await apply("-f", `metrics-server/${part}.yaml`);
  const service = ["keda-metrics-apiserver", "-n", kedaNamespace];
  await kubectl("create", "service", "externalname", ...service, "--external-name=localhost");
  const patch = JSON.stringify({ spec: { service: { port } } });
  await kubectl("patch", "apiservice", "v1beta1.external.metrics.k8s.io", "--type=merge", "-p", patch);
  await kubectl("wait", patience, "--for=condition=Established", "crd", "--all");
}

const secretSchema = z.object({ data: z.record(z.string(), z.base64()) });

/** Waits until KEDA has made its certificates, and writes them into a folder, as a kubelet does. */
export async function mountCertificates(kubectl: Kubectl, folder: string): Promise<void> {
  const secret = ["secret/kedaorg-certs", "-n", kedaNamespace];
  await kubectl("wait", patience, "--for=create", ...secret);
  await kubectl("wait", patience, "--for=jsonpath={.data.tls\\.crt}", ...secret);
  const { data } = secretSchema.parse(JSON.parse(await kubectl("get", ...secret, "-o", "json")));
  await Promise.all(
    Object.entries(data).map(([name, text]) =>
      writeFile(join(folder, name), Buffer.from(text, "base64"), { mode: 0o600 }),
    ),
  );
}
