import { type Child, defineResource, type ObjectKey } from "@drover/controller";
import { composeController } from "@drover/compose";
import { builtin, kindOf } from "@drover/kube";
import { z } from "zod";

const Site = defineResource({
  group: "compose.drover.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ turn: z.int(), text: z.string() }),
  status: z.object({}),
});

const { configMap, serviceAccount, service, deployment } = builtin;
const core = { apiVersion: "v1" };
const labels = { "app.kubernetes.io/part-of": "bench-compose" };

/** Declares the same five children as the other contestants. */
export const siteController = (onRun: (key: ObjectKey) => void = () => undefined) =>
  composeController({
    for: Site,
    copies: true,
    copiesFor: "10m",
    owns: [configMap, serviceAccount, service, deployment].map((ref) => ({
      kind: kindOf(ref),
      copies: true,
    })),
    compose({ key, metadata: { name }, spec }) {
      onRun(key);
      return { children: childrenOf(name, spec), status: {} };
    },
  });

function childrenOf(name: string, { turn, text }: z.output<(typeof Site)["spec"]>): readonly Child[] {
  const [app, metadata] = [{ app: name }, { name, labels }];
  const container = {
    name: "web",
    image: "web:1",
    ports: [{ containerPort: 80 }],
    volumeMounts: [{ name: "page", mountPath: "/page" }],
  };
  return [
    { ...core, kind: "ConfigMap", metadata, data: { turn: String(turn), "index.html": text } },
    {
      ...core,
      kind: "ConfigMap",
      metadata: { name: `${name}-scripts`, labels },
      data: { "start.sh": "exec web --root /page" },
    },
    { ...core, kind: "ServiceAccount", metadata, automountServiceAccountToken: false },
    {
      ...core,
      kind: "Service",
      metadata,
      spec: { clusterIP: "None", selector: app, ports: [{ name: "http", port: 80, targetPort: 80 }] },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        replicas: 0,
        selector: { matchLabels: app },
        template: {
          metadata: { labels: app },
          spec: {
            serviceAccountName: name,
            containers: [container],
            volumes: [{ name: "page", configMap: { name } }],
          },
        },
      },
    },
  ];
}
