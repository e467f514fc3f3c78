// The pods of the sequences. Their status is written by the sequence itself, so that it has their addresses.
import { fateAnnotation } from "@drover/real-cluster";
import type { PseudoRandom } from "@drover/random";
import type { JsonObject } from "../../../packages/sandbox/src/json.ts";

/** A pod that the sequence has made, as far as the next action is chosen by it. */
export interface MadePod {
  readonly name: string;
  readonly number: number;
  readonly object: JsonObject;
  /** The last part of its addresses; undefined if it has none. */
  ip: number | undefined;
  ready: boolean;
  /** It has addresses of both families. */
  dual: boolean;
  /** Since when it is ready, or not. */
  since: string;
  ended: boolean;
  /** A finalizer keeps it when it is deleted. */
  held: boolean;
  /** It was deleted; one that is held is still there. */
  gone: boolean;
}

export interface ReportedPod {
  readonly ip?: number | undefined;
  readonly dual?: boolean;
  readonly ready: boolean;
  readonly since: string;
}

/** The time of an action, so that it is the same in every run. */
export const timeOf = (action: number): string => `2026-01-01T00:00:${String(action).padStart(2, "0")}Z`;

/** The status that a kubelet writes. Without `ip`, the addresses stay as they are. */
export function podStatus({ ip, dual = false, ready, since }: ReportedPod): JsonObject {
  const all = ip === undefined ? [] : [`10.9.0.${ip}`, ...(dual ? [`fd00::9:${ip}`] : [])];
  return {
    phase: "Running",
    conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: since }],
    // Without it, the fake node would write the status of a container that was restarted.
    containerStatuses: [{ name: "main", image: "img:1", imageID: "", ready, restartCount: 0, state: {} }],
    ...(all.length > 0 && { podIP: all[0] ?? "", podIPs: all.map((one) => ({ ip: one })) }),
  };
}

const named = (name: string, containerPort: number): JsonObject => ({
  name,
  image: "img:1",
  ports: [{ name: "http", containerPort }],
});

const containers = (random: PseudoRandom): JsonObject =>
  random.oneOf<JsonObject>([
    { containers: [named("main", 8080)] },
    { containers: [named("main", 8080)] },
    { containers: [named("main", 9090)] },
    { containers: [{ name: "main", image: "img:1" }] },
    {
      containers: [{ name: "main", image: "img:1" }],
      initContainers: [{ ...named("sidecar", 8081), restartPolicy: "Always" }],
    },
  ]);

function podObject(random: PseudoRandom, name: string): JsonObject {
  const tier = random.chance(0.5) ? { tier: "front" } : {};
  const host = random.chance(0.25) ? { hostname: name, subdomain: random.oneOf(["web", "other"]) } : {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: { app: random.oneOf(["web", "web", "web", "api"]), ...tier },
      // The fake node binds it, and does nothing more.
      annotations: { [fateAnnotation]: "pending" },
    },
    spec: { ...containers(random), ...host, nodeName: `fake-${random.below(3)}` },
  };
}

/** New pods, numbered from `before`. */
export const pods = (
  random: PseudoRandom,
  { before, count, since }: { readonly before: number; readonly count: number; readonly since: string },
): readonly MadePod[] =>
  Array.from({ length: count }, (_, i) => {
    const number = before + i + 1;
    const name = `p${number}`;
    const ip = random.chance(0.8) ? number : undefined;
    return {
      name,
      number,
      object: podObject(random, name),
      ip,
      ready: ip !== undefined && random.chance(0.7),
      dual: random.chance(0.5),
      since,
      ended: false,
      held: false,
      gone: false,
    };
  });
