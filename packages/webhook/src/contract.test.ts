import { format } from "prettier";
import { expect, it } from "vitest";
import { contractApi, contractSchema } from "./contract.ts";

// Written from the code: `npx vitest run packages/webhook/src/contract.test.ts -u`.
it.each([
  ["schema.json", contractSchema],
  ["openapi.json", contractApi],
])("docs/contract/%s matches the schemas", async (file, made) => {
  const text = await format(JSON.stringify(made()), { parser: "json", printWidth: 110 });
  await expect(text).toMatchFileSnapshot(`../../../docs/contract/${file}`);
});

it("nothing in the OpenAPI document refers to what is not there", () => {
  const api = contractApi();
  const refs = [...JSON.stringify(api).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
  expect(refs.length).toBeGreaterThan(5);
  for (const path of refs) {
    const found = path
      .split("/")
      .reduce<unknown>(
        (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
        api,
      );
    expect(found, path).toBeTypeOf("object");
  }
});
