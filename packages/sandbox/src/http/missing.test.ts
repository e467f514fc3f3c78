import { expect, it } from "vitest";
import { containing, clientOfFile } from "../testing/client.ts";

const api = await clientOfFile();

it("answers 501 for reviews of access, with where to test that", async () => {
  for (const path of [
    "authorization.k8s.io/v1/selfsubjectaccessreviews",
    "authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
    "authentication.k8s.io/v1/tokenreviews",
  ]) {
    const { body } = await api.call("POST", `/apis/${path}`, {});
    expect(body).toMatchObject({ code: 501, message: containing("every client has all of them") });
  }
});

it.each([
  ["pods", "log exec attach portforward proxy ephemeralcontainers", "test it in verification/cluster"],
  ["services", "proxy", "test it in verification/cluster"],
  ["pods", "eviction resize", "test it against a real one"],
  ["serviceaccounts", "token", "test it against a real one"],
])("answers 501 for %s/%s, with where to test that", async (plural, subresources, where) => {
  for (const one of subresources.split(" ")) {
    const { body } = await api.call("GET", `/api/v1/namespaces/default/${plural}/x/${one}`);
    expect(body).toMatchObject({ code: 501, message: containing(`${plural}/${one}, which`) });
    expect(body).toMatchObject({ message: containing(where) });
  }
});

it("answers 501 for a body in protobuf, with what to send instead", async () => {
  const type = { "content-type": "application/vnd.kubernetes.protobuf" };
  const { body } = await api.send("POST", "/api/v1/namespaces/default/configmaps", "k8s", type);
  expect(body).toMatchObject({ code: 501, message: containing("put the object into a file, and apply it") });
});

it("takes and gives JSON only", async () => {
  const at = "/api/v1/namespaces/default/configmaps";
  const accept = "application/vnd.kubernetes.protobuf";
  expect((await api.call("GET", at, undefined, { accept })).code).toBe(406);
  const typed = (type: string) => ({ "content-type": `application/${type}` });
  expect((await api.send("POST", at, "kind: ConfigMap", typed("yaml"))).code).toBe(415);
  expect((await api.send("PATCH", `${at}/a`, "{}", typed("apply-patch+cbor"))).code).toBe(415);
});

it("answers 501 for scales and the deletion of collections", async () => {
  const at = "/api/v1/namespaces/default/configmaps";
  const answers = await Promise.all([
    api.call("GET", "/apis/apps/v1/namespaces/default/deployments/a/scale"),
    api.call("DELETE", at),
  ]);
  for (const { body } of answers)
    expect(body).toMatchObject({ code: 501, message: containing("test it against a real one") });
});
