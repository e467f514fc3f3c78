// What `kubectl get` shows of pods and of what makes them; the words are kube-apiserver's printers'.
import { isObject, listAt, objectAt, textAt } from "./json.ts";
import type { Json } from "./json.ts";
import { beingDeleted } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { ageColumn } from "./resource-type.ts";
import type { Column } from "./resource-type.ts";

type Of = (object: KubeObject) => Json;
const text = (name: string, of: Of): Column => ({ name, type: "string", jsonPath: "", of });
const wide = (name: string, of: Of): Column => ({ ...text(name, of), priority: 1 });
const numberOf = (value: Json | undefined): number => (typeof value === "number" ? value : 0);
const count = (name: string, part: "spec" | "status", key: string): Column => ({
  name,
  type: "integer",
  jsonPath: "",
  of: (object) => numberOf(objectAt(object, part)[key]),
});

const ofContainers =
  (key: string): Of =>
  (object) =>
    listAt(object, "spec", "template", "spec", "containers")
      .map((one) => textAt(one, key) ?? "")
      .join(",");
const template = [wide("Containers", ofContainers("name")), wide("Images", ofContainers("image"))];
const ready = text("Ready", ({ spec = {}, status = {} }) => {
  const [has, wants] = [objectAt({ status }, "status"), objectAt({ spec }, "spec")];
  return `${numberOf(has["readyReplicas"])}/${numberOf(wants["replicas"])}`;
});

export const deploymentColumns: readonly Column[] = [
  ready,
  count("Up-to-date", "status", "updatedReplicas"),
  count("Available", "status", "availableReplicas"),
  ...[ageColumn, ...template, selector],
];
export const replicaSetColumns: readonly Column[] = [
  count("Desired", "spec", "replicas"),
  count("Current", "status", "replicas"),
  count("Ready", "status", "readyReplicas"),
  ...[ageColumn, ...template, selector],
];
export const statefulSetColumns: readonly Column[] = [ready, ageColumn, ...template];

const statuses = (pod: KubeObject): readonly Json[] => listAt(pod, "status", "containerStatuses");
/** Why a container waits or has ended, or undefined. */
function reasonOf(container: Json): string | undefined {
  const waiting = textAt(container, "state", "waiting", "reason");
  const { reason, exitCode } = objectAt(container, "state", "terminated");
  if (waiting !== undefined || (reason ?? exitCode) === undefined) return waiting;
  return typeof reason === "string" && reason !== "" ? reason : `ExitCode:${numberOf(exitCode)}`;
}

function podStatus(pod: KubeObject): string {
  if (beingDeleted(pod)) return "Terminating";
  const said = textAt(pod, "status", "reason") ?? textAt(pod, "status", "phase") ?? "";
  return (
    statuses(pod)
      .map(reasonOf)
      .find((one) => one !== undefined) ?? said
  );
}

const orNone =
  (...path: string[]): Of =>
  (pod) =>
    textAt(pod, ...path) || "<none>";
export const podColumns: readonly Column[] = [
  text("Ready", (pod) => {
    const up = statuses(pod).filter((one) => isObject(one) && one["ready"] === true);
    return `${up.length}/${listAt(pod, "spec", "containers").length}`;
  }),
  text("Status", podStatus),
  text("Restarts", (pod) =>
    String(
      statuses(pod).reduce<number>((sum, one) => sum + numberOf(isObject(one) ? one["restartCount"] : 0), 0),
    ),
  ),
  ageColumn,
  wide("IP", orNone("status", "podIP")),
  wide("Node", orNone("spec", "nodeName")),
  wide("Nominated Node", orNone("status", "nominatedNodeName")),
  wide("Readiness Gates", () => "<none>"),
];

const portText = (port: Json): string => {
  const { port: number, nodePort } = isObject(port) ? port : {};
  const protocol = textAt(port, "protocol") ?? "TCP";
  return `${numberOf(number)}${nodePort === undefined ? "" : `:${numberOf(nodePort)}`}/${protocol}`;
};
export const serviceColumns: readonly Column[] = [
  text("Type", (service) => textAt(service, "spec", "type") ?? ""),
  text("Cluster-IP", orNone("spec", "clusterIP")),
  text("External-IP", orNone("spec", "externalName")),
  text("Port(s)", (service) => listAt(service, "spec", "ports").map(portText).join(",") || "<none>"),
  ageColumn,
];
