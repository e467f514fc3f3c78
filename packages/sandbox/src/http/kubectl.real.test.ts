import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nameOf, uidOf } from "../kube-object.ts";
import { configMap, clientOfFile, widget, widgetDefinition, widgets } from "../testing/client.ts";
import { kubectlPath } from "../testing/config.ts";
import { kubectlFor } from "../testing/kubectl.ts";

const api = await clientOfFile();
const tool = await kubectlFor(api);
const { run: kubectl, file } = tool;
beforeAll(async () => {
  await kubectl("create", "-f", await file(widgetDefinition()));
  await kubectl("wait", "--for=condition=Established", "crd/widgets.example.com", "--timeout=10s");
});
afterAll(() => tool.close());

describe("kubectl", () => {
  it("creates from files and lists in every form", async () => {
    const made = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };
    expect(await kubectl("create", "-f", await file(made))).toBe("namespace/team created\n");
    await kubectl("create", "-n", "team", "-f", await file(configMap("m", { data: { a: "1" } })));
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "1" } };
    await kubectl("create", "-f", await file(secret));
    await expect(kubectl("create", "configmap", "m", "--from-literal=a=1")).rejects.toThrow(
      "the sandbox does not have protobuf bodies",
    );
    expect(await kubectl("get", "cm", "m", "-n", "team", "-o", "jsonpath={.data.a}")).toBe("1");
    expect(await kubectl("get", "secret", "s", "-o", "jsonpath={.data.a} {.type}")).toBe("MQ== Opaque");
    expect(await kubectl("get", "configmaps", "-A", "-o", "wide")).toMatch(
      /^NAMESPACE +NAME +AGE\nteam +m +\d+s\n$/,
    );
    expect(JSON.parse(await kubectl("get", "cm", "-A", "-o", "json"))).toMatchObject({
      items: [{ data: { a: "1" } }],
    });
    expect(await kubectl("get", "ns", "team", "-o", "yaml")).toContain("kubernetes.io/metadata.name: team");
    await expect(kubectl("get", "cm", "none")).rejects.toThrow(
      'Error from server (NotFound): configmaps "none" not found',
    );
  });

  it("applies, validates on the server, and changes what it applied", async () => {
    const manifest = await file(widget("applied", { size: 3 }));
    expect(await kubectl("apply", "-f", manifest)).toBe("widget.example.com/applied created\n");
    expect(await kubectl("apply", "-f", manifest)).toBe("widget.example.com/applied unchanged\n");
    expect(await kubectl("apply", "-f", await file(widget("applied", { size: 4 })))).toBe(
      "widget.example.com/applied configured\n",
    );
    expect(await kubectl("get", "wd")).toMatch(/^NAME +SIZE +READY +AGE\napplied +4 +\d+s\n$/);
    await expect(kubectl("apply", "-f", await file(widget("odd", { size: 1, sise: 2 })))).rejects.toThrow(
      'unknown field "spec.sise"',
    );
    await expect(kubectl("apply", "-f", await file(widget("odd", { size: 0 })))).rejects.toThrow(
      "spec.size in body should be greater than or equal to 1",
    );
    const map = configMap("applied", { data: { a: "1", b: "2" } });
    await kubectl("apply", "-f", await file(map));
    await kubectl("apply", "-f", await file({ ...map, data: { a: "2" } }));
    expect(await kubectl("get", "cm", "applied", "-o", "jsonpath={.data}")).toBe('{"a":"2"}');
  });

  it("labels, annotates and patches", async () => {
    await kubectl("apply", "-f", await file(widget("marked")));
    await kubectl("label", "wd", "marked", "tier=web");
    await kubectl("annotate", "wd", "marked", "note=hello");
    expect(await kubectl("get", "wd", "-l", "tier in (web)", "-o", "name")).toBe(
      "widget.example.com/marked\n",
    );
    await kubectl("label", "wd", "marked", "tier-");
    expect(await kubectl("patch", "wd", "marked", "--type=merge", "-p", '{"spec":{"size":7}}')).toContain(
      "patched",
    );
    await kubectl(
      "patch",
      "wd",
      "marked",
      "--type=json",
      "-p",
      '[{"op":"replace","path":"/spec/colour","value":"blue"}]',
    );
    expect(await kubectl("get", "wd", "marked", "-o", "jsonpath={.spec}{.metadata.annotations.note}")).toBe(
      '{"colour":"blue","size":7}hello',
    );
    await kubectl("create", "-f", await file(configMap("marked")));
    await kubectl("label", "cm", "marked", "tier=web");
    await kubectl("patch", "cm", "marked", "-p", '{"data":{"a":"1"}}');
    expect(await kubectl("get", "cm", "-l", "tier=web", "-o", "jsonpath={.items[*].data}")).toBe('{"a":"1"}');
  });

  it("applies on the server, also what it has applied on the client before", async () => {
    const sized = (size: number) => file(widget("served", { size }));
    await kubectl("apply", "-f", await sized(1));
    const onServer = ["apply", "--server-side", "-f"];
    expect(await kubectl(...onServer, await sized(2))).toContain("serverside-applied");
    const other = ["--field-manager=other"];
    await expect(kubectl(...onServer, await sized(3), ...other)).rejects.toThrow('conflict with "kubectl"');
    await kubectl(...onServer, await sized(3), ...other, "--force-conflicts");
    expect(await kubectl("get", "wd", "served", "-o", "jsonpath={.spec.size}")).toBe("3");
  });

  it("describes an object with its events", async () => {
    await kubectl("apply", "-f", await file(widget("described")));
    const { body } = await api.call("GET", `${widgets}/described`);
    const involvedObject = {
      apiVersion: "example.com/v1",
      kind: "Widget",
      name: nameOf(body),
      namespace: "default",
      uid: uidOf(body),
    };
    const event = {
      metadata: { name: "e" },
      involvedObject,
      reason: "Made",
      message: "made by a test",
      type: "Normal",
    };
    await api.call("POST", "/api/v1/namespaces/default/events", event);
    const text = await kubectl("describe", "wd", "described");
    expect(text).toMatch(/Size: +1/);
    expect(text).toContain("made by a test");
  });

  it("waits for conditions and for deletion", async () => {
    await kubectl(
      "apply",
      "-f",
      await file(widget("awaited", { size: 1 }, { finalizers: ["example.com/hold"] })),
    );
    const ready = kubectl("wait", "--for=condition=Ready", "wd/awaited", "--timeout=30s");
    const status = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}';
    await kubectl("patch", "wd", "awaited", "--subresource=status", "--type=merge", "-p", status);
    expect(await ready).toContain("condition met");
    const deleted = kubectl("delete", "wd", "awaited");
    const gone = kubectl("wait", "--for=delete", "wd/awaited", "--timeout=30s");
    await kubectl("patch", "wd", "awaited", "--type=merge", "-p", '{"metadata":{"finalizers":null}}');
    expect(await deleted).toContain("deleted");
    await gone;
    await expect(kubectl("get", "wd", "awaited")).rejects.toThrow("NotFound");
  });

  it("watches", async () => {
    const child = spawn(kubectlPath(), ["get", "wd", "-w", "-l", "watched=yes"], { env: tool.env });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    await kubectl("apply", "-f", await file(widget("watched", { size: 1 }, { labels: { watched: "yes" } })));
    expect((await lines.next()).value).toMatch(/^NAME +SIZE +READY +AGE/);
    expect((await lines.next()).value).toMatch(/^watched +1/);
    await kubectl("patch", "wd", "watched", "--type=merge", "-p", '{"spec":{"size":2}}');
    expect((await lines.next()).value).toMatch(/^watched +2/);
    child.kill();
  });

  it("deletes by selection, by file, and whole namespaces and definitions", async () => {
    const manifest = await file(widget("last"));
    await kubectl("apply", "-f", manifest);
    expect(await kubectl("delete", "-f", manifest)).toContain("deleted");
    await kubectl("delete", "wd", "--all");
    expect(api.objects("widgets.example.com")).toEqual([]);
    expect(await kubectl("delete", "namespace", "team")).toContain("deleted");
    await kubectl("delete", "crd", "widgets.example.com");
    await expect(kubectl("get", "wd")).rejects.toThrow("could not find the requested resource");
  });
});
