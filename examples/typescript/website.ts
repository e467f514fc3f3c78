import { composeController } from "@drover/compose";
import { type ChildObject, defineResource } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
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
  }),
  status: z.object({
    address: z.string().optional().meta({ description: "The URL of the website, in the cluster." }),
    readyReplicas: z.int().optional(),
  }),
});
type Spec = z.output<(typeof Website)["spec"]>;
type Labels = Readonly<Record<string, string>>;

/**
 * Each Website gets a page in a ConfigMap, a Deployment that serves it, and a Service. The controller only declares these
 * children: Drover creates them, keeps them as they are declared, and deletes them.
 */
export const websites = composeController({
  for: Website,
  owns: [builtin.configMap, builtin.deployment, builtin.service].map((ref) => ({ kind: kindOf(ref) })),
  compose({ metadata: { name, namespace = "" }, spec, children }) {
    const labels = { "app.kubernetes.io/name": "website", "app.kubernetes.io/instance": name };
    const running = z
      .looseObject({ readyReplicas: z.int().default(0) })
      .parse(children.get(builtin.deployment, name)?.["status"] ?? {});
    return {
      children: [configMap(name, spec), deployment(name, spec, labels), service(name, labels)],
      status: { address: `http://${name}.${namespace}.svc`, readyReplicas: running.readyReplicas },
    };
  },
});

const configMap = (name: string, { html }: Spec): ChildObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { "index.html": html },
});

function deployment(name: string, { image, replicas }: Spec, labels: Labels): ChildObject {
  const container = {
    name: "web",
    image,
    ports: [{ name: "http", containerPort: 8080 }],
    readinessProbe: { httpGet: { path: "/", port: "http" } },
    volumeMounts: [{ name: "page", mountPath: "/usr/share/nginx/html", readOnly: true }],
  };
  const pod = { containers: [container], volumes: [{ name: "page", configMap: { name } }] };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pod },
    },
  };
}

const service = (name: string, labels: Labels): ChildObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: "http" }] },
});
