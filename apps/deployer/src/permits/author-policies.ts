import { objectKey, ReconcileFunction, RetryAfterError } from "@drover/controller";
import type { KubeClient, ResourceRef } from "@drover/kube";
import { authorAnnotations } from "@drover/runtime";
import { covers } from "./keep-object.ts";

const group = "admissionregistration.k8s.io";
const refTo = (kind: string, plural: string): ResourceRef => ({
  ...{ group, version: "v1", kind, plural, namespaced: false },
});
const validating = refTo("ValidatingAdmissionPolicy", "validatingadmissionpolicies");
const validatingBinding = refTo("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings");

const name = "drover-authors";
const { user, groups } = authorAnnotations;
const written = `object.metadata.?annotations[?'${user}'].orValue('')`;
const writtenGroups = `object.metadata.?annotations[?'${groups}'].orValue('')`;
const before = `oldObject.metadata.?annotations[?'${user}'].orValue('')`;
const beforeGroups = `oldObject.metadata.?annotations[?'${groups}'].orValue('')`;
const isNew = "request.operation == 'CREATE' || object.spec != oldObject.spec";
const asker = "request.userInfo.?groups.orValue([]).join('\\n')";

const rules = [
  {
    apiGroups: [ReconcileFunction.group],
    apiVersions: ["*"],
    operations: ["CREATE", "UPDATE"],
    resources: [ReconcileFunction.plural],
  },
];

/** Nobody but who asks writes who asks; and who does not change the spec leaves it as it is. */
const policy = {
  apiVersion: `${group}/v1`,
  kind: validating.kind,
  metadata: { name },
  spec: {
    failurePolicy: "Fail",
    matchConstraints: { resourceRules: rules },
    validations: [
      {
        expression:
          `(${isNew}) ? (${written} == request.userInfo.username && ${writtenGroups} == ${asker}) : ` +
          `(${written} == ${before} && ${writtenGroups} == ${beforeGroups})`,
        message:
          `the annotations ${user} and ${groups} say who wrote this spec: you, and your groups, one a line. ` +
          "Leave them to the server, or to drover deploy.",
      },
    ],
  },
} as const;

const policyBinding = {
  apiVersion: `${group}/v1`,
  kind: validatingBinding.kind,
  metadata: { name },
  spec: { policyName: name, validationActions: ["Deny"] },
} as const;

/** Writes who asks, so that people need not: where the server has such policies (from Kubernetes 1.36 on by default). */
const stamping = [
  {
    apiVersion: `${group}/v1`,
    kind: "MutatingAdmissionPolicy",
    metadata: { name },
    spec: {
      failurePolicy: "Fail",
      reinvocationPolicy: "Never",
      matchConstraints: { resourceRules: rules },
      matchConditions: [{ name: "spec-is-new", expression: isNew }],
      mutations: [
        {
          patchType: "ApplyConfiguration",
          applyConfiguration: {
            expression:
              `Object{metadata: Object.metadata{annotations: {'${user}': request.userInfo.username, ` +
              `'${groups}': ${asker}}}}`,
          },
        },
      ],
    },
  },
  {
    apiVersion: `${group}/v1`,
    kind: "MutatingAdmissionPolicyBinding",
    metadata: { name },
    spec: { policyName: name },
  },
] as const;

/** What is to be installed beside the CRD, so that nobody deploys a function with another one's permissions. */
export const authorPolicies = [policy, policyBinding, ...stamping] as const;

/** @throws RetryAfterError while the API server does not keep the annotations safe: then they prove nothing. */
export async function refuseUnlessGuarded(client: KubeClient, signal: AbortSignal): Promise<void> {
  const key = objectKey({ name });
  const [there, bound] = await Promise.all([
    client.get(validating, key, { signal }),
    client.get(validatingBinding, key, { signal }),
  ]);
  if (covers(there?.["spec"], policy.spec) && covers(bound?.["spec"], policyBinding.spec)) return;
  throw new RetryAfterError(
    `The ValidatingAdmissionPolicy ${name} and its binding are not as they should be: nobody can say who asks for this ` +
      "function. Install authors.yaml.",
    { after: "1m", reason: "AuthorsUnguarded" },
  );
}
