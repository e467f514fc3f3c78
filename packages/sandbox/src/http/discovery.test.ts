import { describe, expect, it } from "vitest";
import { listAt, objectAt, textAt } from "../json.ts";
import { humanDuration } from "./table.ts";
import { definitions, matching, startClient, widgetDefinition } from "../testing/client.ts";

it("discovery lists fieldValidation for patches, which kubectl apply looks for", async () => {
  const api = await startClient();
  await api.call("POST", definitions, widgetDefinition());
  const root = await api.call("GET", "/openapi/v3");
  const path = textAt(root.body, "paths", "apis/example.com/v1", "serverRelativeURL") ?? "";
  const { body } = await api.call("GET", path);
  const at = "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}";
  const patch = objectAt(body, "paths", at, "patch");
  expect(patch["x-kubernetes-group-version-kind"]).toEqual({
    group: "example.com",
    version: "v1",
    kind: "Widget",
  });
  expect(listAt(patch, "parameters").map((one) => textAt(one, "name"))).toContain("fieldValidation");
  expect((await api.call("GET", "/version")).body).toMatchObject({ gitVersion: matching(/^v1\.\d+\.\d+/) });
  await api.close();
});

describe("ages", () => {
  it.each([
    [0, "0s"],
    [119, "119s"],
    [125, "2m5s"],
    [600, "10m"],
    [3 * 3600, "3h"],
    [4 * 3600 + 60, "4h1m"],
    [30 * 3600, "30h"],
    [50 * 3600, "2d2h"],
    [30 * 86400, "30d"],
    [3 * 365 * 86400, "3y"],
    [-5, "<invalid>"],
  ])("of %i seconds are %s", (seconds, text) => expect(humanDuration(seconds)).toBe(text));
});
