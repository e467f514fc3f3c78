import { customResourceDefinition, ReconcileFunction } from "@drover/controller";
import { builtin } from "@drover/kube";
import {
  absentConditionType,
  requestAnnotation,
  authorAnnotations,
  AuthorEpoch,
  authorEpochName,
  authorPolicyName,
} from "@drover/runtime";

const group = "admissionregistration.k8s.io";
export const { validatingAdmissionPolicy: validating, validatingAdmissionPolicyBinding: validatingBinding } =
  builtin;

const { user, groups, epoch } = authorAnnotations;
const name = authorPolicyName;
const annotationOf = (object: "object" | "oldObject", annotation: string): string =>
  `${object}.metadata.?annotations[?'${annotation}'].orValue('')`;
const isUnchanged = (annotation: string): string =>
  `${annotationOf("object", annotation)} == ${annotationOf("oldObject", annotation)}`;

const isNew =
  "request.operation == 'CREATE' || object.spec != oldObject.spec || !(" +
  `${isUnchanged(requestAnnotation)})`;
/** One group a line, with backslashes and line breaks escaped. `authorOf` parses it. */
const groupsOfRequest =
  "request.userInfo.?groups.orValue([])" +
  String.raw`.map(g, g.replace('\\', '\\\\').replace('\n', '\\n')).join('\n')`;
const currentEpoch = "string(params.spec.epoch)";

const byRequest: Readonly<Record<string, string>> = {
  [user]: "request.userInfo.username",
  [groups]: groupsOfRequest,
  [epoch]: currentEpoch,
};
const all = (tests: readonly string[]): string => tests.join(" && ");

// Contains the API server's defaults, so that it equals what the server returns: one more field may exempt a user.
const matching = (resource: string) => ({
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [
    {
      apiGroups: [ReconcileFunction.group],
      apiVersions: ["*"],
      operations: ["CREATE", "UPDATE"],
      resources: [resource],
      scope: "*",
    },
  ],
});
const params = { apiVersion: AuthorEpoch.apiVersion, kind: AuthorEpoch.kind };

/**
 * A write that changes the spec, or requests it again, must have its user as the author. Any other must not change the
 * author.
 */
const authorPolicy = {
  apiVersion: `${group}/v1`,
  kind: validating.kind,
  metadata: { name },
  spec: {
    failurePolicy: "Fail",
    matchConstraints: matching(ReconcileFunction.plural),
    paramKind: params,
    validations: [
      {
        expression:
          `(${isNew}) ? (` +
          all(Object.entries(byRequest).map(([of, value]) => `${annotationOf("object", of)} == ${value}`)) +
          ") : (" +
          `${all([user, groups, epoch].map(isUnchanged))})`,
        message:
          `the annotations ${user}, ${groups} and ${epoch} name the user who wrote this spec: you, your groups (one a ` +
          `line), and the spec.epoch of the AuthorEpoch ${authorEpochName}. Leave them to the server, or deploy with drover deploy.`,
      },
    ],
  },
} as const;

/** Rejects every write of a function while the AuthorEpoch does not exist: a deployer must have run before. */
const paramRef = { name: authorEpochName, parameterNotFoundAction: "Deny" } as const;

const authorBinding = {
  apiVersion: `${group}/v1`,
  kind: validatingBinding.kind,
  metadata: { name },
  spec: { policyName: name, paramRef, validationActions: ["Deny"] },
} as const;

/** Writes the author, on API servers that have such policies (Kubernetes 1.36 and newer by default). */
const stamping = [
  {
    apiVersion: `${group}/v1`,
    kind: "MutatingAdmissionPolicy",
    metadata: { name },
    spec: {
      failurePolicy: "Fail",
      reinvocationPolicy: "Never",
      matchConstraints: matching(ReconcileFunction.plural),
      paramKind: params,
      matchConditions: [{ name: "spec-is-new", expression: isNew }],
      mutations: [
        {
          patchType: "ApplyConfiguration",
          applyConfiguration: {
            expression: `Object{metadata: Object.metadata{annotations: {${Object.entries(byRequest)
              .map(([of, value]) => `'${of}': ${value}`)
              .join(", ")}}}}`,
          },
        },
      ],
    },
  },
  {
    apiVersion: `${group}/v1`,
    kind: "MutatingAdmissionPolicyBinding",
    metadata: { name },
    spec: { policyName: name, paramRef },
  },
];

const statusName = "drover-status";
const bridgesFields: ReadonlySet<string> = new Set(["problem", "follows", "campaign"]);
const statusFields = [...Object.keys(ReconcileFunction.status.shape), "observedGeneration"];
const accountOf = (namespace: string, account: string): string =>
  `'system:serviceaccount:${namespace}:${account}'`;

/** The only condition that bridges may write: it reports that no deployer runs. */
const bridgesCondition = absentConditionType("deployer");
const others = (object: string): string =>
  `${object}.?status.?conditions.orValue([]).filter(c, c.type != '${bridgesCondition}')`;

/** The deployer may write the status of functions, a bridge only its own part of it, and any other user nothing. */
const statusPolicy = (namespace: string) => ({
  apiVersion: `${group}/v1`,
  kind: validating.kind,
  metadata: { name: statusName },
  spec: {
    failurePolicy: "Fail",
    matchConstraints: matching(`${ReconcileFunction.plural}/status`),
    validations: [
      {
        expression:
          `request.userInfo.username == ${accountOf(namespace, "deployer")} || ` +
          `(request.userInfo.username == ${accountOf(namespace, "bridge")} && ` +
          all([
            ...statusFields
              .filter((field) => !bridgesFields.has(field))
              .map((field) => `object.?status.?${field} == oldObject.?status.?${field}`),
            `${others("object")} == ${others("oldObject")}`,
          ]) +
          ")",
        message: `the status of a function is written by ${namespace}/deployer; ${namespace}/bridge may write only its own fields.`,
      },
    ],
  },
});

const statusBinding = {
  apiVersion: `${group}/v1`,
  kind: validatingBinding.kind,
  metadata: { name: statusName },
  spec: { policyName: statusName, validationActions: ["Deny"] },
} as const;

/** The kind of the epoch, and every user's permission to read it: clients that write the annotations need it. */
const epochObjects = [
  customResourceDefinition(AuthorEpoch),
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: builtin.clusterRole.kind,
    metadata: { name },
    rules: [
      {
        apiGroups: [AuthorEpoch.group],
        resources: [AuthorEpoch.plural],
        resourceNames: [authorEpochName],
        verbs: ["get"],
      },
    ],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: builtin.clusterRoleBinding.kind,
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: builtin.clusterRole.kind, name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:authenticated" }],
  },
];

/** The policy and the binding that protect the author annotations, exactly as they must be. */
export const authorPolicies = { policy: authorPolicy, binding: authorBinding } as const;

/**
 * Everything that is installed in addition to the CRD to establish a function's author, for a deployer and bridges in
 * that namespace.
 */
export const installedPolicies = (namespace: string): readonly object[] => [
  ...[...epochObjects, authorPolicy, authorBinding, ...stamping],
  ...[statusPolicy(namespace), statusBinding],
];
