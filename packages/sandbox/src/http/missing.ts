// Features of a real API server that the sandbox lacks. Each is answered with 501 and the place to test it.
import type { ResourceType } from "../kinds/resource-type.ts";
import { notImplemented } from "./status.ts";

const node = "needs a node that runs containers: test it in verification/cluster (npm run test:cluster)";
const server = "is kube-apiserver's own: test it against a real one (tools/real-cluster, npm run test:real)";

const access =
  "asks for permissions, and here every client has all of them: test it against a real one (tools/real-cluster, npm run test:real)";
const reviews = new Set([
  ...[
    "subjectaccessreviews",
    "selfsubjectaccessreviews",
    "localsubjectaccessreviews",
    "selfsubjectrulesreviews",
  ].map((one) => `${one}.authorization.k8s.io`),
  ...["tokenreviews", "selfsubjectreviews"].map((one) => `${one}.authentication.k8s.io`),
]);

const missing: ReadonlyMap<string, string> = new Map([
  ...["log", "exec", "attach", "portforward", "proxy", "ephemeralcontainers"].map(
    (one) => [`pods/${one}`, node] as const,
  ),
  ...["services/proxy", "nodes/proxy"].map((one) => [one, node] as const),
  ...["pods/eviction", "pods/resize", "serviceaccounts/token", "namespaces/finalize"].map(
    (one) => [one, server] as const,
  ),
]);

/** The answer to a body in protobuf. */
export const noProtobuf = (): Error =>
  notImplemented(
    "protobuf bodies",
    "kubectl create sends for some kinds: put the object into a file, and apply it",
  );

/** The answer to a request to delete all objects of a kind. */
export const noCollections = (): Error => notImplemented("the deletion of collections", server);

export const isMissing = (resource: string, subresource: string): boolean =>
  subresource === "scale" || missing.has(`${resource}/${subresource}`);

/** Throws 501 for the kinds by which a real API server reviews identities and permissions. */
export function refuseReview(group: string, resource: string): void {
  const name = `${resource}.${group}`;
  if (reviews.has(name)) throw notImplemented(name, access);
}

/** Throws 501 for a subresource that a real API server has of this resource. */
export function refuseMissing({ resource, custom }: ResourceType, subresource: string): void {
  if (custom ? subresource !== "scale" : !isMissing(resource, subresource)) return;
  const where = missing.get(`${resource}/${subresource}`) ?? server;
  throw notImplemented(`the subresource ${resource}/${subresource}`, where);
}
