// What nodes, network policies and role bindings need besides being stored.
import { invalid, notSupported, required, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, isObject, listAt, objectAt, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { labelKeyFaults } from "./names.ts";
import type { Behaviour } from "./resource-type.ts";
import { always, anyObject, each, fields, listBy, listOf, or, string, struct } from "./schema-words.ts";

const nodeInfo = each(
  "machineID systemUUID bootID kernelVersion osImage containerRuntimeVersion kubeletVersion kubeProxyVersion operatingSystem architecture",
  or(string, ""),
);
const endpoint = fields({ kubeletEndpoint: always(fields({ Port: or({ type: "integer" }, 0) })) });
const whenever = or(string, null);
const taint = struct({ kept: "key effect timeAdded", text: "value" });
const condition = struct(
  { kept: "type status", text: "reason message" },
  { lastHeartbeatTime: whenever, lastTransitionTime: whenever },
);
export const nodeSchema: JsonObject = fields({
  spec: always(
    struct(
      {
        text: "podCIDR providerID externalID",
        texts: "podCIDRs",
        flag: "unschedulable",
        any: "configSource",
      },
      { taints: listOf(taint) },
    ),
  ),
  status: always(
    struct(
      {
        text: "phase",
        texts: "volumesInUse declaredFeatures",
        quantities: "capacity allocatable",
        any: "config features",
        anys: "images volumesAttached runtimeHandlers",
      },
      {
        conditions: listBy("type", condition),
        addresses: listBy("type", struct({ kept: "type address" })),
        daemonEndpoints: always(endpoint),
        nodeInfo: always(fields({ ...nodeInfo, swap: anyObject })),
      },
    ),
  ),
});

const unready = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** A new node is not ready, and says so to the scheduler (the admission plugin TaintNodesByCondition). */
export const nodeBehaviour: Behaviour = {
  admitted(node, old) {
    const spec = objectAt(node, "spec");
    const taints = listAt(spec, "taints");
    const known = taints.some(
      (one) => textAt(one, "key") === unready.key && textAt(one, "effect") === unready.effect,
    );
    return old || known ? node : withTop(node, "spec", { ...spec, taints: [...taints, unready] });
  },
};

export const policyPort: JsonObject = struct(
  { port: "port", integer: "endPort" },
  { protocol: or(string, "TCP") },
);

/** A policy is about what comes in, and about what goes out where it says so. */
export const networkPolicyBehaviour: Behaviour = {
  leavesMetadata: "whole",
  completed(policy) {
    const spec = objectAt(policy, "spec");
    if (listAt(spec, "policyTypes").length > 0) return policy;
    const policyTypes = ["Ingress", ...(field(spec, "egress") === undefined ? [] : ["Egress"])];
    return withTop(policy, "spec", { ...spec, policyTypes });
  },
};

const rbac = "rbac.authorization.k8s.io";
const groupOf = (kind: string | undefined): string => (kind === "User" || kind === "Group" ? rbac : "");

function withGroup(given: Json): Json {
  if (!isObject(given) || (textAt(given, "apiGroup") ?? "") !== "") return given;
  const group = groupOf(textAt(given, "kind"));
  return group === "" ? given : { ...given, apiGroup: group };
}

function subjectErrors(subject: Json, path: string, inNamespace: boolean): FieldError[] {
  const [kind, name, namespace] = ["kind", "name", "namespace"].map((key) => textAt(subject, key) ?? "");
  const kinds = ["ServiceAccount", "User", "Group"];
  return [
    ...when(name === "", required(`${path}.name`)),
    ...when(!kinds.includes(kind ?? ""), notSupported(`${path}.kind`, kind ?? "", kinds)),
    ...when(kind === "ServiceAccount" && namespace === "" && !inNamespace, required(`${path}.namespace`)),
  ];
}

function bindingErrors(binding: KubeObject, old: KubeObject | undefined): FieldError[] {
  const role = objectAt(binding, "roleRef");
  const group = textAt(role, "apiGroup") ?? "";
  const kind = textAt(role, "kind") ?? "";
  const kinds = binding.kind === "RoleBinding" ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return [
    ...when(group !== rbac, notSupported("roleRef.apiGroup", group, [rbac])),
    ...when(!kinds.includes(kind), notSupported("roleRef.kind", kind, kinds)),
    ...when((textAt(role, "name") ?? "") === "", required("roleRef.name")),
    ...listAt(binding, "subjects").flatMap((one, i) =>
      subjectErrors(one, `subjects[${i}]`, binding.kind === "RoleBinding"),
    ),
    ...when(
      old !== undefined && !equal(field(old, "roleRef"), role),
      invalid("roleRef", role, "cannot change roleRef"),
    ),
  ];
}

/** Groups are filled in where the kind says them; what is bound never changes. */
export const bindingBehaviour: Behaviour = {
  completed(binding) {
    const role = objectAt(binding, "roleRef");
    const grouped = withTop(binding, "roleRef", { ...role, apiGroup: textAt(role, "apiGroup") ?? rbac });
    const subjects = field(binding, "subjects");
    return subjects === undefined
      ? grouped
      : withTop(grouped, "subjects", listAt(binding, "subjects").map(withGroup));
  },
  errors: bindingErrors,
};

export const leaseBehaviour: Behaviour = {
  leavesMetadata: "whole",
  errors(lease) {
    const spec = objectAt(lease, "spec");
    const [seconds, transitions] = [field(spec, "leaseDurationSeconds"), field(spec, "leaseTransitions")];
    const at = "spec.leaseDurationSeconds";
    return [
      ...when(typeof seconds === "number" && seconds <= 0, invalid(at, seconds, "must be greater than 0")),
      ...when(
        typeof transitions === "number" && transitions < 0,
        invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"),
      ),
    ];
  },
};

const statuses = ["False", "True", "Unknown"];
const wrongReason =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

export const disruptionBudgetBehaviour: Behaviour = {
  leavesMetadata: "all",
  errors: (budget) =>
    listAt(budget, "status", "conditions").flatMap((condition, i) => {
      const at = `status.conditions[${i}]`;
      const text = (key: string): string => textAt(condition, key) ?? "";
      const [type, status, reason, seen] = [
        text("type"),
        text("status"),
        text("reason"),
        field(condition, "observedGeneration"),
      ];
      const missing = ["lastTransitionTime", "reason"].filter((key) => text(key) === "");
      return [
        ...labelKeyFaults(type).map((fault) => invalid(`${at}.type`, type, fault)),
        ...when(!statuses.includes(status), notSupported(`${at}.status`, status, statuses)),
        ...when(
          typeof seen === "number" && seen < 0,
          invalid(`${at}.observedGeneration`, seen, "must be greater than or equal to zero"),
        ),
        ...missing.map((key) => required(`${at}.${key}`)),
        ...when(
          reason !== "" && !/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason),
          invalid(`${at}.reason`, reason, wrongReason),
        ),
      ];
    }),
};
