import { boundRole } from "../harness/rbac.ts";

/** Manifests as an operator of Drover writes them, except for those of `drover generate`. */

export const service = (name: string, port: number) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port }] },
});

export const deployment = (name: string, replicas: number, spec: object) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 30, ...spec },
    },
  },
});

/** Not root, with no capability, and nothing of the image can be written to. */
export const locked = {
  runAsNonRoot: true,
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

/** A ServiceAccount of the namespace `default` that may do this everywhere. */
export function account(name: string, rules: readonly object[]): readonly object[] {
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } },
    ...boundRole({ name }, rules, { kind: "ServiceAccount", name, namespace: "default" }),
  ];
}

/** A process of Drover's, with its own readiness probe. */
export const droverProcess = (name: string, image: string, env: Readonly<Record<string, string>>) => ({
  serviceAccountName: name,
  containers: [
    {
      name,
      image,
      securityContext: locked,
      env: Object.entries({ ...everyProcess, ...env }).map(([name, value]) => ({ name, value })),
      readinessProbe: { httpGet: { path: "/readyz", port: 8080 }, periodSeconds: 1 },
      livenessProbe: { httpGet: { path: "/healthz", port: 8080 } },
    },
  ],
});
const everyProcess = {
  DROVER_HTTP_HOST: "0.0.0.0",
  DROVER_HTTP_PORT: "8080",
  DROVER_REDIS_URL: "redis://valkey:6379",
};

/**
 * Where the queue is: what it has acknowledged is on disk.
 * @param users arguments of `ACL SETUSER`, one user each. Default: every client may do anything.
 */
export const valkey = (image: string, users: readonly string[] = []): readonly object[] => [
  service("valkey", 6379),
  deployment("valkey", 1, {
    containers: [
      {
        name: "valkey",
        image,
        securityContext: { ...locked, runAsUser: 999, runAsGroup: 999 },
        args: [
          ...["valkey-server", "--appendonly", "yes", "--appendfsync", "always", "--save", ""],
          ...["--maxmemory-policy", "noeviction", "--protected-mode", "no"],
          ...users.flatMap((user) => ["--user", ...user.split(" ")]),
        ],
        readinessProbe: { tcpSocket: { port: 6379 }, periodSeconds: 1 },
        volumeMounts: [{ name: "data", mountPath: "/data" }],
      },
    ],
    securityContext: { fsGroup: 999 },
    volumes: [{ name: "data", emptyDir: {} }],
  }),
];

/** An S3 server that keeps everything in memory. */
export const s3 = (image: string): readonly object[] => [
  service("s3", 5000),
  deployment("s3", 1, {
    containers: [
      {
        name: "s3",
        image,
        securityContext: { ...locked, runAsUser: 65532 },
        readinessProbe: { httpGet: { path: "/", port: 5000 }, periodSeconds: 1 },
        volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
      },
    ],
    volumes: [{ name: "tmp", emptyDir: {} }],
  }),
];
