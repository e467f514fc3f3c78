import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";

/** A Pod, or an address outside the cluster, which has no namespace. */
export interface Peer {
  readonly ip: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Connection {
  readonly from: Peer;
  readonly to: Peer;
  readonly port: number;
  /** The name of that port among the container ports of the Pod. */
  readonly portName?: string;
  readonly protocol?: "TCP" | "UDP";
}

const verdictsSchema = z.array(z.strictObject({ egress: z.boolean(), ingress: z.boolean() }));
export type Verdict = z.output<typeof verdictsSchema>[number];

/**
 * Evaluates NetworkPolicies by the matcher of Cyclonus (go/main.go), which the Kubernetes network community compares network
 * plugins with. Nothing is enforced: this is the behaviour of a plugin that follows the API.
 */
export async function evaluate(
  policies: readonly object[],
  connections: readonly Connection[],
): Promise<readonly Verdict[]> {
  const running = promisify(execFile)("go", ["run", "-mod=readonly", "-trimpath", "-buildvcs=false", "."], {
    cwd: fileURLToPath(new URL("go", import.meta.url)),
    env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off" },
    maxBuffer: 1e7,
  });
  running.child.stdin?.end(
    JSON.stringify({
      policies,
      connections: connections.map((one) => ({ protocol: "TCP", portName: "", ...one })),
    }),
  );
  return verdictsSchema.parse(JSON.parse((await running).stdout));
}
