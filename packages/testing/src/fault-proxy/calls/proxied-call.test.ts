import { expect, it } from "vitest";
import { parseCall } from "./proxied-call.ts";

const call = (method: string, url: string, body?: unknown) =>
  parseCall({ id: 1, life: 1, method, url, body });

it.each([
  ["GET /api/v1/namespaces/default/configmaps/a", "get configmaps default a"],
  ["GET /api/v1/namespaces/default/configmaps", "list configmaps default "],
  ["GET /api/v1/configmaps", "list configmaps  "],
  ["GET /api/v1/configmaps?watch=1", "watch configmaps  "],
  ["GET /api/v1/watch/configmaps", "watch configmaps  "],
  [
    "GET /apis/apps/v1/namespaces/x/deployments?watch=true&fieldSelector=metadata.name%3Dweb",
    "watch deployments.apps x web",
  ],
  ["GET /api/v1/namespaces/x/configmaps/a?watch=true", "get configmaps x a"],
  ["HEAD /api/v1/nodes/n", "get nodes  n"],
  ["POST /apis/apps/v1/namespaces/x/deployments", "create deployments.apps x "],
  ["POST /api/v1/namespaces/x/pods/p/binding", "create pods/binding x p"],
  ["PUT /apis/s3.drover.dev/v1/namespaces/x/buckets/b/status", "update buckets.s3.drover.dev/status x b"],
  ["PATCH /api/v1/nodes/n", "patch nodes  n"],
  ["DELETE /api/v1/namespaces/x/configmaps/a%20b", "delete configmaps x a b"],
  ["DELETE /api/v1/namespaces/x/configmaps?labelSelector=a", "deletecollection configmaps x "],
  ["DELETE /api/v1/namespaces/x/configmaps/a%zz", "delete configmaps x a%zz"],
  // As in RequestInfo, the namespace of a Namespace is itself.
  ["GET /api/v1/namespaces", "list namespaces  "],
  ["POST /api/v1/namespaces", "create namespaces  "],
  ["DELETE /api/v1/namespaces/x", "delete namespaces x x"],
  ["PUT /api/v1/namespaces/x/finalize", "update namespaces/finalize x x"],
  ["GET /api/v1/namespaces/x/status", "get namespaces/status x x"],
  ["GET /api", "other   "],
  ["GET /apis/apps/v1", "other   "],
  ["GET /readyz?verbose", "other   "],
  ["PUT /bucket/key", "other   "],
])("%s is a %s", (asked, meant) => {
  const [method = "", url = ""] = asked.split(" ");
  const { verb, resource, subresource, namespace, name } = call(method, url);
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  expect(`${verb} ${what} ${namespace} ${name}`).toBe(meant);
});

it("is a write unless it reads, requests a review or a token, or is a dry run", () => {
  const path = "/api/v1/namespaces/x/configmaps";
  expect(call("POST", path).isWrite).toBe(true);
  expect(call("DELETE", `${path}/a`, { kind: "DeleteOptions" }).isWrite).toBe(true);
  expect(call("PUT", "/bucket/key").isWrite).toBe(true);
  expect(call("GET", path).isWrite).toBe(false);
  expect(call("POST", `${path}?dryRun=All`).isWrite).toBe(false);
  expect(call("DELETE", `${path}/a`, { kind: "DeleteOptions", dryRun: ["All"] }).isWrite).toBe(false);
  expect(call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").isWrite).toBe(false);
  expect(call("POST", "/api/v1/namespaces/x/serviceaccounts/default/token").isWrite).toBe(false);
});
