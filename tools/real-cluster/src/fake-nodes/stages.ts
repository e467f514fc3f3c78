// The Stages by which kwok changes nodes and pods: a stage is taken by every object that its selector matches, after a
// delay. Those of a kind exclude one another, for among several kwok draws.

/**
 * A pod's annotation that determines its state on a fake node; it may be set, changed and removed at any time:
 *
 * - left out, or anything else: Running, and Ready
 * - `pending`: on its node, and no more
 * - `unready`: Running, and not Ready; set on a pod that is Ready, it is so no longer
 * - `fails`: its phase becomes Failed, which is for good
 * - `succeeds`: its phase becomes Succeeded, which is for good, too
 */
export const fateAnnotation = "fake-node/fate";
/** A pod's annotation: the exit code of its containers when it fails; default 1. */
export const exitCodeAnnotation = "fake-node/exit-code";
/** A pod's annotation: the reason of the condition DisruptionTarget that it has when it fails; default none. */
export const disruptionAnnotation = "fake-node/disruption";
/** A pod's annotation: how often each of its containers has been restarted; default 0. */
export const restartsAnnotation = "fake-node/restarts";
/** A pod's annotation. With `fails`, a pod that is deleted becomes Failed before it goes, as on a kubelet. */
export const whenDeletedAnnotation = "fake-node/when-deleted";
/** A pod's annotation: how long it takes to be what it is to be, as in `2s`. */
export const delayAnnotation = "fake-node/delay";

const nodeCapacity = "{cpu: 10k, memory: 10Ti, pods: 1M}";
const pause = { durationMilliseconds: 50 };
const exists = (key: string) => ({ key, operator: "Exists" });
const lacks = (key: string) => ({ key, operator: "DoesNotExist" });
const isOneOf = (key: string, ...values: readonly string[]) => ({ key, operator: "In", values });
const isNone = (key: string, ...values: readonly string[]) => ({ key, operator: "NotIn", values });

const readyCondition = '.status.conditions.[] | select( .type == "Ready" ) | .status';
const annotation = (name: string): string => `.metadata.annotations["${name}"]`;
const fate = annotation(fateAnnotation);
const phase = ".status.phase";
const hasOtherRestarts = `(${annotation(restartsAnnotation)} // "0") != (.status.containerStatuses[0].restartCount | tostring)`;
const isToFail = `${annotation(whenDeletedAnnotation)} == "fails" and (${phase} == "Running" or ${phase} == "Pending")`;
const stays = lacks(".metadata.deletionTimestamp");
const leaves = exists(".metadata.deletionTimestamp");

const nodeStatus = `
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
addresses:
- {address: {{ NodeIP | Quote }}, type: InternalIP}
allocatable: ${nodeCapacity}
capacity: ${nodeCapacity}
phase: Running
`;

const containerStates = {
  Running: "running: {startedAt: {{ $started | Quote }}}",
  Succeeded:
    "terminated: {exitCode: 0, reason: Completed, startedAt: {{ $started | Quote }}, finishedAt: {{ $now | Quote }}}",
  Failed: `terminated: {exitCode: {{ get $annotations "${exitCodeAnnotation}" | default "1" }}, reason: Error, startedAt: {{ $started | Quote }}, finishedAt: {{ $now | Quote }}}`,
} as const;

const disruption = `
{{ with get $annotations "${disruptionAnnotation}" }}
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: DisruptionTarget, reason: {{ . | Quote }}}
{{ end }}`;

/** The status of a pod with containers that run, or have ended, as a kubelet writes it. */
const podStatus = (of: { readonly phase: keyof typeof containerStates; readonly ready: boolean }): string => `
{{ $now := Now }}
{{ $started := or .status.startTime $now }}
{{ $node := .spec.nodeName }}
{{ $annotations := or .metadata.annotations (dict) }}
{{ $restarts := get $annotations "${restartsAnnotation}" | default "0" }}
conditions:
- {lastTransitionTime: {{ $started | Quote }}, status: "True", type: Initialized}
- {lastTransitionTime: {{ $now | Quote }}, status: "${of.ready ? "True" : "False"}", type: Ready}
- {lastTransitionTime: {{ $now | Quote }}, status: "${of.ready ? "True" : "False"}", type: ContainersReady}
${of.phase === "Failed" ? disruption : ""}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: ${of.ready}
  restartCount: {{ $restarts }}
  started: ${of.phase === "Running"}
  state:
    ${containerStates[of.phase]}
{{ end }}
{{ if not .status.podIP }}
{{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
hostIP: {{ NodeIPWith $node | Quote }}
podIP: {{ index . 0 | Quote }}
podIPs:
- ip: {{ index . 0 | Quote }}
{{ end }}
{{ end }}
phase: ${of.phase}
startTime: {{ $started | Quote }}
`;

const stage = (name: string, kind: "Node" | "Pod", spec: object) => ({
  apiVersion: "kwok.x-k8s.io/v1alpha1",
  kind: "Stage",
  metadata: { name },
  spec: { resourceRef: { apiGroup: "v1", kind }, ...spec },
});

const podStage = (
  name: string,
  matchExpressions: readonly object[],
  statusTemplate: string,
  existence: object = stays,
) =>
  stage(name, "Pod", {
    selector: { matchExpressions: [existence, ...matchExpressions] },
    delay: { ...pause, durationFrom: { expressionFrom: `.metadata.annotations["${delayAnnotation}"]` } },
    next: { statusTemplate },
  });

const stages: readonly object[] = [
  stage("node", "Node", {
    selector: { matchExpressions: [isNone(readyCondition, "True")] },
    next: { statusTemplate: nodeStatus },
  }),
  podStage(
    "pod-ready",
    [
      isOneOf(phase, "Pending", "Running"),
      isNone(readyCondition, "True"),
      isNone(fate, "pending", "unready", "fails", "succeeds"),
    ],
    podStatus({ phase: "Running", ready: true }),
  ),
  podStage(
    "pod-begins-unready",
    [isOneOf(phase, "Pending"), isOneOf(fate, "unready")],
    podStatus({ phase: "Running", ready: false }),
  ),
  podStage(
    "pod-turns-unready",
    [isOneOf(phase, "Running"), isOneOf(readyCondition, "True"), isOneOf(fate, "unready")],
    podStatus({ phase: "Running", ready: false }),
  ),
  podStage(
    "pod-fails",
    [isOneOf(phase, "Pending", "Running"), isOneOf(fate, "fails")],
    podStatus({ phase: "Failed", ready: false }),
  ),
  podStage(
    "pod-succeeds",
    [isOneOf(phase, "Pending", "Running"), isOneOf(fate, "succeeds")],
    podStatus({ phase: "Succeeded", ready: false }),
  ),
  podStage(
    "pod-restarts",
    [
      isOneOf(phase, "Running"),
      isOneOf(readyCondition, "True"),
      isNone(fate, "unready", "fails", "succeeds"),
      isOneOf(hasOtherRestarts, "true"),
    ],
    podStatus({ phase: "Running", ready: true }),
  ),
  podStage("pod-ends", [isOneOf(isToFail, "true")], podStatus({ phase: "Failed", ready: false }), leaves),
  stage("pod-goes", "Pod", {
    selector: { matchExpressions: [leaves, isNone(isToFail, "true")] },
    next: { delete: true },
  }),
];

/** The stages as a file for kwok. JSON is YAML. */
export const stagesFile = (): string => stages.map((one) => JSON.stringify(one)).join("\n---\n");
