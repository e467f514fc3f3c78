import type { KubeObject } from "@drover/kube";
import { matchesLabels } from "@drover/kube";
import { z } from "zod";
import { type NodePod, portNumber } from "../pods/pod.ts";

const portNumberSchema = z.number().int().min(1).max(65_535);
const serviceSchema = z.object({
  spec: z.object({
    clusterIP: z.string().nullish(),
    selector: z.record(z.string(), z.string()).nullish(),
    publishNotReadyAddresses: z.boolean().nullish(),
    ports: z
      .array(
        z.object({
          port: portNumberSchema,
          targetPort: z.union([z.number(), z.string()]).nullish(),
          protocol: z.string().nullish(),
        }),
      )
      .nullish(),
  }),
});

/** One port of a Service, and where it leads. */
export type ServicePort = Readonly<ReturnType<typeof portsOf>[number]>;

/** The ports of a Service that this machine can listen for: TCP, on loopback, with pods behind them. */
export function portsOf(object: KubeObject) {
  const { data } = serviceSchema.safeParse(object);
  const { clusterIP, selector, ports, publishNotReadyAddresses } = data?.spec ?? {};
  if (!clusterIP?.startsWith("127.") || selector == null || Object.keys(selector).length === 0) return [];
  const { namespace = "" } = object.metadata;
  return (ports ?? [])
    .filter(({ protocol }) => (protocol ?? "TCP") === "TCP")
    .map(({ port, targetPort }) => ({
      namespace,
      selector,
      /** Where clients connect to. */
      host: clusterIP,
      port,
      targetPort: targetPort ?? port,
      includesUnready: publishNotReadyAddresses === true,
    }));
}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** The pods that may be given a connection now. */
export function endpointsOf(
  { namespace, selector, targetPort, includesUnready }: ServicePort,
  pods: Iterable<NodePod>,
): Endpoint[] {
  return [...pods].flatMap((pod) => {
    const { phase, podIP, conditions } = pod.status;
    const isMeant = pod.namespace === namespace && matchesLabels({ matchLabels: selector }, pod.labels);
    const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
    const isRunning = phase === "Running" && pod.terminationGrace === undefined && podIP.startsWith("127.");
    const { data: port } = portNumberSchema.safeParse(portNumber(targetPort, pod.spec.containers));
    const isOpen = isMeant && isRunning && (isReady || includesUnready);
    return isOpen && port !== undefined ? [{ host: podIP, port }] : [];
  });
}
