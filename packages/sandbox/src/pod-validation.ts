// What is wrong with the spec of a pod or of a template of pods (apis/core/validation). Not everything that a real
// server refuses is: what is looked at are names, images, ports, environment, volumes and the policies.
import {
  duplicate,
  forbidden,
  invalid,
  notFoundValue,
  notSupported,
  required,
  when,
} from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, listAt, objectAt, omit, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { labelErrors, nameFaults } from "./names.ts";
import { volumeSources } from "./pod-schema.ts";

const text = (value: Json | undefined, key: string): string => textAt(value, key) ?? "";
const labelled = (value: string, path: string): FieldError[] =>
  nameFaults("label", value).map((fault) => invalid(path, value, fault));
const oneOf = (value: Json | undefined, allowed: readonly string[], path: string): FieldError[] => {
  const given = typeof value === "string" ? value : "";
  if (given === "") return [required(path)];
  return when(!allowed.includes(given), notSupported(path, given, allowed));
};
/** Checks names that have to be there, to be labels, and to be told apart. */
function named(items: readonly Json[], path: string): FieldError[] {
  return items.flatMap((item, i) => {
    const name = text(item, "name");
    return name === "" ? [required(`${path}[${i}].name`)] : labelled(name, `${path}[${i}].name`);
  });
}
const repeated = (items: readonly Json[], i: number): boolean =>
  items.slice(0, i).some((one) => text(one, "name") === text(items[i], "name"));

function portErrors(port: Json, path: string): FieldError[] {
  const range = "must be between 1 and 65535, inclusive";
  const [number, host, name] = [
    field(port, "containerPort") ?? 0,
    field(port, "hostPort") ?? 0,
    text(port, "name"),
  ];
  const outside = (value: Json): boolean => typeof value === "number" && (value < 1 || value > 65535);
  return [
    ...when(name.length > 15, invalid(`${path}.name`, name, "must be no more than 15 characters")),
    ...(number === 0
      ? [required(`${path}.containerPort`)]
      : when(outside(number), invalid(`${path}.containerPort`, number, range))),
    ...when(host !== 0 && outside(host), invalid(`${path}.hostPort`, host, range)),
    ...oneOf(field(port, "protocol"), ["SCTP", "TCP", "UDP"], `${path}.protocol`),
  ];
}

function envErrors(env: Json, path: string): FieldError[] {
  const from = field(env, "valueFrom");
  const sources = Object.keys(objectAt(from));
  const valued = text(env, "value") !== "" && from !== undefined;
  return [
    ...when(text(env, "name") === "", required(`${path}.name`)),
    ...when(
      from !== undefined && sources.length === 0,
      invalid(
        `${path}.valueFrom`,
        "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
      ),
    ),
    ...when(valued, invalid(`${path}.valueFrom`, "", "may not be specified when `value` is not empty")),
  ];
}

function mountErrors(mounts: readonly Json[], volumes: readonly Json[], path: string): FieldError[] {
  return mounts.flatMap((mount, i) => {
    const [name, at] = [text(mount, "name"), text(mount, "mountPath")];
    const known = volumes.some((volume) => text(volume, "name") === name);
    const again = mounts.slice(0, i).some((one) => text(one, "mountPath") === at);
    return [
      ...when(name === "", required(`${path}[${i}].name`)),
      ...when(!known, notFoundValue(`${path}[${i}].name`, name)),
      ...when(at === "", required(`${path}[${i}].mountPath`)),
      ...when(again, invalid(`${path}[${i}].mountPath`, at, "must be unique")),
    ];
  });
}

function containerErrors(container: Json, volumes: readonly Json[], path: string): FieldError[] {
  const name = text(container, "name");
  const messages = ["File", "FallbackToLogsOnError"];
  return [
    ...(name === "" ? [required(`${path}.name`)] : labelled(name, `${path}.name`)),
    ...when(text(container, "image") === "", required(`${path}.image`)),
    ...oneOf(field(container, "terminationMessagePolicy"), messages, `${path}.terminationMessagePolicy`),
    ...listAt(container, "ports").flatMap((port, i) => portErrors(port, `${path}.ports[${i}]`)),
    ...listAt(container, "env").flatMap((env, i) => envErrors(env, `${path}.env[${i}]`)),
    ...mountErrors(listAt(container, "volumeMounts"), volumes, `${path}.volumeMounts`),
    ...oneOf(
      field(container, "imagePullPolicy"),
      ["Always", "IfNotPresent", "Never"],
      `${path}.imagePullPolicy`,
    ),
  ];
}

function volumeErrors(volumes: readonly Json[], path: string): FieldError[] {
  return volumes.flatMap((volume, i) => {
    const sources = Object.keys(objectAt(volume)).filter((key) => Object.hasOwn(volumeSources, key));
    return [
      ...sources
        .slice(1)
        .map((key) => forbidden(`${path}[${i}].${key}`, "may not specify more than 1 volume type")),
      ...named([volume], path).map((error) => ({ ...error, field: error.field.replace("[0]", `[${i}]`) })),
      ...when(repeated(volumes, i), duplicate(`${path}[${i}].name`, text(volume, "name"))),
    ];
  });
}

/** Everything that is wrong with a pod's spec at `path`. */
export function podSpecErrors(spec: JsonObject, path: string): FieldError[] {
  const volumes = listAt(spec, "volumes");
  const all = (key: string): FieldError[] => {
    const containers = listAt(spec, key);
    const others = key === "containers" ? [] : listAt(spec, "containers");
    return containers.flatMap((one, i) => [
      ...containerErrors(one, volumes, `${path}.${key}[${i}]`),
      ...when(
        repeated([...others, ...containers], others.length + i),
        duplicate(`${path}.${key}[${i}].name`, text(one, "name")),
      ),
    ]);
  };
  const deadline = field(spec, "activeDeadlineSeconds");
  const named = ["hostname", "subdomain"].filter((key) => text(spec, key) !== "");
  return [
    ...named.flatMap((key) => labelled(text(spec, key), `${path}.${key}`)),
    ...volumeErrors(volumes, `${path}.volumes`),
    ...(listAt(spec, "containers").length === 0 ? [required(`${path}.containers`)] : all("containers")),
    ...all("initContainers"),
    ...oneOf(field(spec, "restartPolicy"), ["Always", "OnFailure", "Never"], `${path}.restartPolicy`),
    ...oneOf(
      field(spec, "dnsPolicy"),
      ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
      `${path}.dnsPolicy`,
    ),
    ...labelErrors(objectAt(spec, "nodeSelector"), `${path}.nodeSelector`),
    ...when(
      typeof deadline === "number" && (deadline < 1 || deadline > 2147483647),
      invalid(`${path}.activeDeadlineSeconds`, deadline, "must be between 1 and 2147483647, inclusive"),
    ),
  ];
}

const fixed =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
const withoutImages = (list: readonly Json[]): Json => list.map((one) => omit(objectAt(one), "image"));
/** What an update of a pod may not touch. */
const kept = (spec: JsonObject): JsonObject => ({
  ...omit(spec, "activeDeadlineSeconds", "tolerations", "schedulingGates"),
  containers: withoutImages(listAt(spec, "containers")),
  initContainers: withoutImages(listAt(spec, "initContainers")),
});

/** What an update may not do to a pod's spec. A real server adds the difference, for people. */
export function podUpdateErrors(spec: JsonObject, old: JsonObject): FieldError[] {
  for (const key of ["containers", "initContainers"])
    if (listAt(spec, key).length !== listAt(old, key).length)
      return [forbidden(`spec.${key}`, "pod updates may not add or remove containers")];
  const [deadline, before] = [field(spec, "activeDeadlineSeconds"), field(old, "activeDeadlineSeconds")];
  const deadlineAt = "spec.activeDeadlineSeconds";
  if (typeof deadline === "number" && typeof before === "number" && before < deadline)
    return [invalid(deadlineAt, deadline, "must be less than or equal to previous value")];
  const tolerations = listAt(spec, "tolerations");
  const isGone = listAt(old, "tolerations").some((one) => !tolerations.some((other) => equal(one, other)));
  const tolerated = "existing toleration can not be modified except its tolerationSeconds";
  return [
    ...when(
      deadline === undefined && before !== undefined,
      invalid(deadlineAt, null, "must not update from a positive integer to nil value"),
    ),
    ...when(isGone, forbidden("spec.tolerations", tolerated)),
    ...when(!equal(kept(spec), kept(old)), forbidden("spec", fixed)),
  ];
}
