import { describe, expect, it } from "vitest";
import { fromProtobuf } from "./protobuf.ts";
import { configMaps, startClient } from "./testing/client.ts";

type Part = readonly [field: number, value: string | number | Uint8Array | readonly Part[]];

/** Protobuf, written by hand: short numbers and lengths only. */
const written = (...parts: readonly Part[]): Uint8Array =>
  Buffer.concat(
    parts.map(([field, value]) => {
      if (typeof value === "number") return Buffer.from([field * 8, value]);
      const bytes =
        typeof value === "string"
          ? Buffer.from(value)
          : value instanceof Uint8Array
            ? value
            : written(...value);
      return Buffer.concat([Buffer.from([field * 8 + 2, bytes.length]), bytes]);
    }),
  );
const body = (kind: string, ...object: readonly Part[]): Uint8Array =>
  Buffer.concat([
    Buffer.from("k8s\0"),
    written(
      [
        1,
        [
          [1, "v1"],
          [2, kind],
        ],
      ],
      [2, object],
    ),
  ]);

describe("a protobuf body", () => {
  it("is read as the object that JSON would say", () => {
    const metadata: Part = [
      1,
      [
        [1, "m"],
        [2, ""],
        [7, 0],
        [
          11,
          [
            [1, "a"],
            [2, "1"],
          ],
        ],
        [
          11,
          [
            [1, "b"],
            [2, ""],
          ],
        ],
        [14, "x.io/1"],
        [14, "x.io/2"],
      ],
    ];
    const object = body(
      "ConfigMap",
      metadata,
      [
        2,
        [
          [1, "k"],
          [2, "v"],
        ],
      ],
      [
        3,
        [
          [1, "b"],
          [2, new Uint8Array([1, 2])],
        ],
      ],
      [4, 1],
      [15, ""],
    );
    expect(fromProtobuf(object)).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "m", labels: { a: "1", b: "" }, finalizers: ["x.io/1", "x.io/2"] },
      data: { k: "v" },
      binaryData: { b: "AQI=" },
      immutable: true,
    });
  });

  it("with a field that is not known is refused rather than lost", () => {
    expect(() => fromProtobuf(body("ConfigMap", [15, "new"]))).toThrow("application/json");
  });

  it("keeps empty texts in lists, where they mean something", () => {
    expect(
      fromProtobuf(
        body("Role", [
          2,
          [
            [1, "get"],
            [2, ""],
            [3, "pods"],
          ],
        ]),
      ),
    ).toMatchObject({ rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] });
  });

  it("is refused when it is cut off, is something else, or of a kind that only comes as JSON", () => {
    const whole = body("ConfigMap", [1, [[1, "m"]]]);
    expect(() => fromProtobuf(whole.subarray(0, -2))).toThrow(expect.objectContaining({ code: 400 }));
    expect(() => fromProtobuf(Buffer.from("{}"))).toThrow(expect.objectContaining({ code: 400 }));
    expect(() => fromProtobuf(body("Pod"))).toThrow(expect.objectContaining({ code: 415 }));
  });

  it("creates an object over HTTP", async () => {
    const api = await startClient();
    const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
    const response = await api.fetch(configMaps, {
      method: "POST",
      headers,
      body: Buffer.from(body("ConfigMap", [1, [[1, "m"]]])),
    });
    expect(response.status).toBe(201);
    expect((await api.call("GET", `${configMaps}/m`)).code).toBe(200);
    await api.close();
  });
});
