import { type Child, type Compose, defineResource } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { z } from "zod";
import { composeController, type ComposeDefinition } from "./compose-controller.ts";

export const Website = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Website",
  scope: "Namespaced",
  spec: z.object({
    html: z.string(),
    replicas: z.int().default(1),
    public: z.boolean().default(false),
    tls: z.object({ secretName: z.string() }).optional(),
    include: z.object({ matchLabels: z.record(z.string(), z.string()) }).optional(),
  }),
  status: z.object({ replicas: z.int().optional() }),
});

export const websiteKind = { apiVersion: "example.com/v1", kind: "Website" };
export const kinds = {
  configMap: { apiVersion: "v1", kind: "ConfigMap" },
  service: { apiVersion: "v1", kind: "Service" },
  deployment: { apiVersion: "apps/v1", kind: "Deployment" },
  secret: { apiVersion: "v1", kind: "Secret" },
};
export const website = (spec: object, name = "a") => ({ ...websiteKind, metadata: { name }, spec });

export const owns = [builtin.configMap, builtin.service, builtin.deployment, builtin.secret].map((ref) => ({
  kind: kindOf(ref),
}));

type Website = typeof Website;

/** The same kinds, with children in other namespaces, and cluster-scoped ones. */
export const ownsEverywhere = [...owns, { kind: kindOf(builtin.node) }].map((owned) => ({
  ...owned,
  acrossNamespaces: true,
}));

/** A controller of websites that declares these children. */
export const controllerOfWebsites = (
  compose: Compose<Website>,
  more: Partial<ComposeDefinition<Website>> = {},
) => composeController({ for: Website, owns, retry: { first: "1s", longest: "5m" }, ...more, compose });

/** A ConfigMap with the page, a Deployment that shows it, and a Service if the website is public. */
export const websites = () =>
  controllerOfWebsites(({ metadata: { name }, spec, children }) => {
    const labels = { app: name };
    const page: Child = { ...kinds.configMap, metadata: { name }, data: { "index.html": spec.html } };
    const container = {
      name: "web",
      image: "web:1",
      ports: [{ containerPort: 80 }],
      volumeMounts: [{ name: "page", mountPath: "/page" }],
      resources: { requests: { cpu: "1000m" } },
    };
    const deployment: Child = {
      ...kinds.deployment,
      metadata: { name, labels },
      spec: {
        replicas: spec.replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [container], volumes: [{ name: "page", configMap: { name } }] },
        },
      },
    };
    const service: Child = {
      ...kinds.service,
      metadata: { name },
      spec: { selector: labels, ports: [{ port: 80 }] },
    };
    const status = children.get(builtin.deployment, name)?.["status"];
    const replicas = z.looseObject({ replicas: z.int().optional() }).parse(status ?? {}).replicas;
    return {
      children: [page, deployment, ...(spec.public ? [service] : [])],
      status: { ...(replicas !== undefined && { replicas }) },
    };
  });
