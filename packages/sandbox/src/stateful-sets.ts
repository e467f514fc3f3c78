// StatefulSets as the API server knows them (apis/apps). What makes pods and claims of them is a controller's.
import { forbidden, invalid, notSupported, required, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, listAt, objectAt, omit, textAt, textsAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { nameFaults } from "./names.ts";
import type { Behaviour } from "./resource-type.ts";
import { always, each, fields, intOrString, labelSelector, listOf, omitted } from "./schema-words.ts";
import { or, string, struct } from "./schema-words.ts";
import { common, conditions, notNegative, numberAt, selectionErrors, statusErrors } from "./workloads.ts";
import { templateNameErrors, whole, withTemplate } from "./workloads.ts";

/** A text with a value for where it is empty or not given. */
const textOr = (value: string): JsonObject => or(omitted(string), value);

const claim = (metadata: JsonObject): JsonObject =>
  fields({
    apiVersion: or(string, "v1"),
    kind: or(string, "PersistentVolumeClaim"),
    metadata: always(metadata),
    spec: always(
      struct(
        {
          texts: "accessModes",
          text: "volumeName",
          any: "dataSource dataSourceRef",
        },
        {
          selector: labelSelector,
          resources: always(struct({ quantities: "limits requests" })),
          storageClassName: string,
          volumeAttributesClassName: string,
          volumeMode: or(string, "Filesystem"),
        },
      ),
    ),
    status: always(struct({ any: "capacity" }, { phase: textOr("Pending") })),
  });

/** The schema, with that of metadata for its template. */
export const statefulSetSchema = (metadata: JsonObject): JsonObject =>
  fields({
    spec: always(
      struct(
        { number: "minReadySeconds" },
        {
          ...common(metadata),
          serviceName: or(string, ""),
          volumeClaimTemplates: listOf(claim(metadata)),
          podManagementPolicy: textOr("OrderedReady"),
          updateStrategy: always(
            struct(
              { text: "type" },
              { rollingUpdate: struct({ integer: "partition" }, { maxUnavailable: intOrString }) },
            ),
          ),
          revisionHistoryLimit: or(whole, 10),
          persistentVolumeClaimRetentionPolicy: or(
            fields(each("whenDeleted whenScaled", textOr("Retain"))),
            {},
          ),
          ordinals: fields({ start: or(whole, 0) }),
        },
      ),
    ),
    status: always(
      struct(
        {
          number: "observedGeneration readyReplicas currentReplicas updatedReplicas",
          text: "currentRevision updateRevision",
          integer: "collisionCount",
        },
        {
          replicas: or(whole, 0),
          availableReplicas: or(whole, 0),
          conditions: conditions("lastTransitionTime"),
        },
      ),
    ),
  });

/** Without a type it is a rolling update, with a limit; one that is named has a limit where it has any. */
function withStrategy(set: KubeObject): KubeObject {
  const spec = objectAt(set, "spec");
  const strategy = objectAt(spec, "updateStrategy");
  const type = textAt(strategy, "type");
  const given = field(strategy, "rollingUpdate") ?? (type === undefined ? {} : undefined);
  if (given === undefined || (type ?? "RollingUpdate") !== "RollingUpdate") return set;
  const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 0, ...objectAt(given) } };
  return withTop(set, "spec", { ...spec, updateStrategy });
}

/** How many may be unavailable is behind a feature gate. */
function withoutGated(set: KubeObject): KubeObject {
  const spec = objectAt(set, "spec");
  const strategy = objectAt(spec, "updateStrategy");
  if (field(strategy, "rollingUpdate") === undefined) return set;
  const rollingUpdate = omit(objectAt(strategy, "rollingUpdate"), "maxUnavailable");
  return withTop(set, "spec", { ...spec, updateStrategy: { ...strategy, rollingUpdate } });
}

/** As Go prints the strategy in its own words. */
const shownStrategy = (rollingUpdate: Json | undefined): Json =>
  rollingUpdate === undefined
    ? null
    : { Partition: numberAt(rollingUpdate, "partition"), MaxUnavailable: null };

function strategyErrors(strategy: JsonObject): FieldError[] {
  const at = "spec.updateStrategy";
  const type = textAt(strategy, "type") ?? "";
  const rolling = field(strategy, "rollingUpdate");
  if (type === "RollingUpdate") return notNegative(rolling, `${at}.rollingUpdate`, "partition");
  const only = "only allowed for updateStrategy 'RollingUpdate'";
  if (type === "OnDelete")
    return when(rolling !== undefined, invalid(`${at}.rollingUpdate`, shownStrategy(rolling), only));
  const shown = { Type: type, RollingUpdate: shownStrategy(rolling) };
  return [invalid(at, shown, "must be 'RollingUpdate' or 'OnDelete'")];
}

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const volumeModes = ["Block", "Filesystem"];

function claimErrors(template: Json, path: string): FieldError[] {
  const modes = textsAt(template, "spec", "accessModes");
  const mode = textAt(template, "spec", "volumeMode") ?? "";
  const storage = field(template, "spec", "resources", "requests", "storage");
  return [
    ...when(modes.length === 0, required(`${path}.accessModes`, "at least 1 access mode is required")),
    ...modes
      .filter((one) => !accessModes.includes(one))
      .map((one) => notSupported(`${path}.accessModes`, one, accessModes)),
    ...when(storage === undefined, required(`${path}.resources[storage]`)),
    ...when(!volumeModes.includes(mode), notSupported(`${path}.volumeMode`, mode, volumeModes)),
  ];
}

/** Its pods as they will be: with the volumes of their claims, and names that the controller gives. */
function podOf(spec: JsonObject): JsonObject {
  const pod = objectAt(spec, "template", "spec");
  const claimed = listAt(spec, "volumeClaimTemplates").map((one): JsonObject => {
    const name = textAt(one, "metadata", "name") ?? "";
    return { name, persistentVolumeClaim: { claimName: name } };
  });
  const own = listAt(pod, "volumes").filter((one) =>
    claimed.every((other) => other["name"] !== field(one, "name")),
  );
  return { ...omit(pod, "subdomain", "hostname"), volumes: [...claimed, ...own] };
}

const changeable = [
  ...["replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"],
  ...["persistentVolumeClaimRetentionPolicy", "minReadySeconds"],
];
const fixed =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
  "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

function specErrors(spec: JsonObject, isNew: boolean): FieldError[] {
  const [management, service] = [textAt(spec, "podManagementPolicy"), textAt(spec, "serviceName") ?? ""];
  const retained = objectAt(spec, "persistentVolumeClaimRetentionPolicy");
  const words = { empty: "statefulset", unread: "", deadline: "StatefulSet" };
  return [
    ...when(
      management !== "OrderedReady" && management !== "Parallel",
      invalid("spec.podManagementPolicy", management, "must be 'OrderedReady' or 'Parallel'"),
    ),
    ...strategyErrors(objectAt(spec, "updateStrategy")),
    ...["whenDeleted", "whenScaled"].flatMap((when) => {
      const policy = textAt(retained, when) ?? "";
      const at = `spec.persistentVolumeClaimRetentionPolicy.${when}`;
      return ["Retain", "Delete"].includes(policy) ? [] : [notSupported(at, policy, ["Retain", "Delete"])];
    }),
    ...notNegative(spec, "spec", "replicas", "minReadySeconds"),
    ...notNegative(field(spec, "ordinals"), "spec.ordinals", "start"),
    ...selectionErrors(spec, podOf(spec), words),
    // Its own code looks at the template's names again.
    ...templateNameErrors(spec),
    ...(isNew ? nameFaults("label", service) : [])
      .filter(() => service !== "")
      .map((fault) => invalid("spec.serviceName", service, fault)),
    ...(isNew ? listAt(spec, "volumeClaimTemplates") : []).flatMap((one, i) =>
      claimErrors(one, `spec.volumeClaimTemplates[${i}].spec`),
    ),
  ];
}

export const statefulSetBehaviour: Behaviour = {
  leavesMetadata: "whole",
  completed: (set) => withTemplate(withStrategy(set)),
  admitted: withoutGated,
  warnings: (set) =>
    numberAt(set["spec"], "revisionHistoryLimit") < 0
      ? [
          "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
        ]
      : [],
  errors: (set, old) => {
    const [spec, status] = [objectAt(set, "spec"), objectAt(set, "status")];
    const [kept, before] = [omit(objectAt(old, "spec"), ...changeable), objectAt(old, "status")];
    const counts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    const collisions = numberAt(status, "collisionCount");
    return [
      ...specErrors(spec, old === undefined),
      ...when(old !== undefined && !equal(omit(spec, ...changeable), kept), forbidden("spec", fixed)),
      ...statusErrors(status, ...counts),
      ...notNegative(status, "status", "collisionCount"),
      ...when(
        "collisionCount" in before && collisions < numberAt(before, "collisionCount"),
        invalid("status.collisionCount", collisions, "cannot be decremented"),
      ),
    ];
  },
};
