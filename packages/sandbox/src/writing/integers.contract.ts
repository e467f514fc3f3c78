// Integers of 64 bits: sentences that hold of the sandbox and of a real API server. Bodies and answers are texts here.
import { afterAll, beforeAll, expect, it } from "vitest";
import { widgets } from "../testing/client.ts";
import { defineWidgets } from "../testing/contract-kinds.ts";
import type { AnyServer } from "../testing/real-client.ts";

/** The sentences, for a server that `start` brings. */
export function integersContract(start: () => Promise<AnyServer>): void {
  let api: AnyServer;
  beforeAll(async () => {
    api = await start();
    await defineWidgets(api);
  }, 900_000);
  afterAll(() => api.close());

  const widget = (name: string, spec: string): string =>
    `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`;
  const sent = async (method: string, path: string, text: string, type = "json"): Promise<number> =>
    (await api.send(method, path, text, { "content-type": `application/${type}` })).code;
  /** The text of a field of a spec that is an object of scalars and lists. */
  const fieldOf = async (name: string, field: string): Promise<string> =>
    new RegExp(`"${field}":(\\{.*?\\})`).exec(await api.text(`${widgets}/${name}`))?.[1] ?? "";

  const most = "9223372036854775807";
  const least = "-9223372036854775808";

  it("are kept in fields that say so, and in those that say nothing", async () => {
    const [free, limits] = [`{"a":[9007199254740993,${least}],"b":0.5}`, `{"a":${most},"b":${least}}`];
    expect(await sent("POST", widgets, widget("made", `{"free":${free},"limits":${limits}}`))).toBe(201);
    expect([await fieldOf("made", "free"), await fieldOf("made", "limits")]).toEqual([free, limits]);
    expect(await api.text(widgets)).toContain(`"free":${free}`);
  });

  it("are rounded beyond 64 bits, and refused where the field says integer", async () => {
    const free = '{"a":12345678901234567890,"b":9007199254740993.0,"c":1e3,"d":1.0,"e":1E+21}';
    expect(await sent("POST", widgets, widget("rounded", `{"free":${free}}`))).toBe(201);
    expect(await fieldOf("rounded", "free")).toBe(
      '{"a":12345678901234567000,"b":9007199254740992,"c":1000,"d":1,"e":1e+21}',
    );
    const limits = '{"limits":{"a":9223372036854775808}}';
    expect(await sent("POST", widgets, widget("refused", limits))).toBe(422);
  });

  it("are merged and patched", async () => {
    const at = `${widgets}/patched`;
    const made = widget("patched", '{"limits":{"a":9007199254740993}}');
    expect(await sent("POST", widgets, made)).toBe(201);
    expect(await sent("PATCH", at, `{"spec":{"limits":{"b":${most}}}}`, "merge-patch+json")).toBe(200);
    expect(await fieldOf("patched", "limits")).toBe(`{"a":9007199254740993,"b":${most}}`);
    const test = (value: string): string => `[{"op":"test","path":"/spec/limits/a","value":${value}}]`;
    expect(await sent("PATCH", at, test("9007199254740993"), "json-patch+json")).toBe(200);
    expect(await sent("PATCH", at, test("9007199254740992"), "json-patch+json")).toBe(422);
  });
}
