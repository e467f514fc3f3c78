import { defineResource, RetryAfterError } from "drover";
import { composeController } from "drover/compose";
import { builtin, type ChildOf, kindOf } from "drover/kube";
import { z } from "zod";

/** The kind of the examples that declare children. */
export const Website = defineResource({
  group: "example.com",
  version: "v1alpha1",
  kind: "Website",
  scope: "Namespaced",
  spec: z.object({
    html: z.string().max(100_000).meta({ description: "The page." }),
    image: z
      .string()
      .default("nginxinc/nginx-unprivileged:1.28.0")
      .meta({ description: "A web server that serves /usr/share/nginx/html at port 8080." }),
    replicas: z.int().min(0).max(100).default(1),
    secretName: z
      .string()
      .optional()
      .meta({ description: "A Secret with environment variables of the web server." }),
  }),
  status: z.object({
    address: z.string().optional().meta({ description: "The URL of the website, in the cluster." }),
    readyReplicas: z.int().optional(),
  }),
});
const deploymentStatus = z.looseObject({ readyReplicas: z.int().default(0) });

/**
 * Each Website gets a page in a ConfigMap, a Deployment that serves it, and a Service. The controller only declares these
 * children: Drover creates them, keeps them as they are declared, and deletes them.
 */
export const websites = composeController({
  for: Website,
  owns: [builtin.configMap, builtin.deployment, builtin.service].map((ref) => ({ kind: kindOf(ref) })),
  related: [{ kind: kindOf(builtin.secret), names: { referencedBy: "spec.secretName" } }],
  compose({ metadata: { name, namespace = "" }, spec, children, related }) {
    const { html, image, replicas, secretName = "" } = spec;
    const secret = related.get(builtin.secret, secretName);
    if (secretName !== "" && secret === undefined)
      throw new RetryAfterError(`Create the Secret ${secretName}.`, { after: "10m", reason: "NoSecret" });
    const labels = { "app.kubernetes.io/name": "website", "app.kubernetes.io/instance": name };
    // A new version of the Secret replaces the Pods.
    const annotations = secret && { "example.com/secret-version": secret.metadata.resourceVersion };
    const container = {
      name: "web",
      image,
      ports: [{ name: "http", containerPort: 8080 }],
      readinessProbe: { httpGet: { path: "/", port: "http" } },
      volumeMounts: [{ name: "page", mountPath: "/usr/share/nginx/html", readOnly: true }],
      envFrom: secret && [{ secretRef: { name: secretName } }],
    };
    const pod = { containers: [container], volumes: [{ name: "page", configMap: { name } }] };
    const page: ChildOf<"ConfigMap"> = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name },
      data: { "index.html": html },
    };
    const deployment: ChildOf<"Deployment"> = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels, annotations }, spec: pod },
      },
    };
    const service: ChildOf<"Service"> = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: "http" }] },
    };
    const { readyReplicas } = deploymentStatus.parse(
      children.get(builtin.deployment, name)?.["status"] ?? {},
    );
    return {
      children: [page, deployment, service],
      status: { address: `http://${name}.${namespace}.svc`, readyReplicas },
    };
  },
});
