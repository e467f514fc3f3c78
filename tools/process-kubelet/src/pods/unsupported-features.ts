import type { Container, NodePod, Probe, Volume } from "./pod.ts";

/** Why this node cannot run a pod, for its status; undefined when it can. Nothing is left out silently. */
export function unsupportedFeatures({ spec }: NodePod): string | undefined {
  const asked = [
    ...(["hostNetwork", "hostPID", "hostIPC"] as const).filter((flag) => spec[flag]),
    ...lists.filter((list) => spec[list].length > 0),
    ...spec.volumes.flatMap(unsupportedInVolume),
    ...spec.containers.flatMap(unsupportedInContainer),
  ];
  if (asked.length === 0) return undefined;
  return `This node runs commands as local processes and cannot do what the pod asks for: ${asked.join(", ")}. Leave that out, or run the pod on a real kubelet.`;
}

const lists = ["initContainers", "ephemeralContainers", "readinessGates"] as const;
const sources = ["secret", "configMap", "emptyDir", "downwardAPI", "projected"] as const;
const projectable: readonly string[] = ["secret", "configMap", "downwardAPI"];
const kindsOf = (source: object): string[] =>
  Object.entries(source).flatMap(([kind, value]) => (kind === "name" || value == null ? [] : [kind]));

function unsupportedInVolume(volume: Volume): string[] {
  const known: readonly string[] = sources;
  const outer = kindsOf(volume).filter((kind) => !known.includes(kind));
  const inner = (volume.projected?.sources ?? [])
    .flatMap(kindsOf)
    .filter((kind) => !projectable.includes(kind));
  return [...outer, ...inner].map((kind) => `the volume ${volume.name} of ${kind}`);
}

function unsupportedInContainer(container: Container): string[] {
  const { name, lifecycle, ports, env, volumeMounts } = container;
  const probes = [container.readinessProbe, container.livenessProbe, container.startupProbe];
  return [
    ...(lifecycle == null ? [] : ["lifecycle hooks"]),
    ...(ports.some(({ hostPort }) => hostPort > 0) ? ["hostPort"] : []),
    ...(env.some(({ valueFrom }) => valueFrom?.resourceFieldRef != null) ? ["resourceFieldRef"] : []),
    ...(env.some(({ valueFrom }) => valueFrom?.fileKeyRef != null) ? ["fileKeyRef"] : []),
    ...(volumeMounts.some(({ subPathExpr }) => subPathExpr !== "") ? ["subPathExpr"] : []),
    ...(probes.some(isUnsupportedProbe) ? ["exec and grpc probes"] : []),
  ].map((what) => `${what} of the container ${name}`);
}

const isUnsupportedProbe = (probe: Probe | null | undefined): boolean =>
  probe?.exec != null || probe?.grpc != null;
