import { controllerFrom } from "@drover/controller";
import { testCluster } from "@drover/testing";
import { z } from "zod";
import { exampleKind } from "../../harness/example-kind.ts";
import { type Attack, outcomeOf } from "../attack.ts";

const Cup = exampleKind("Cup", {
  status: { n: z.number().optional(), list: z.array(z.number()).optional() },
});
const circular: Record<string, unknown> = {};
circular["list"] = [circular];

const statusSchema = z.looseObject({
  status: z.looseObject({ conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })) }),
});

export const attack: Attack = {
  name: "an object with a status that cannot be written is not Ready",
  kind: "truth in status",
  needs: [],
  async run() {
    const wrong: string[] = [];
    const answers = {
      NaN: { n: NaN },
      bigint: { n: 2n ** 63n },
      rounded: { n: 2n ** 53n + 1n },
      circle: circular,
      inside: { list: [1, NaN] },
      text: { n: "5" },
      none: "hello",
    };
    for (const [name, status] of Object.entries<unknown>(answers)) {
      const reconcile = () => Promise.resolve({ status } as never);
      await using cluster = await testCluster(() => controllerFrom({ for: Cup, reconcile }));
      const { apiVersion, kind } = Cup;
      await cluster.apply({ apiVersion, kind, metadata: { name: "a" }, spec: {} });
      await cluster.advance("5s").catch(() => undefined);
      const shown = statusSchema.safeParse(await cluster.get({ apiVersion, kind }, "a"));
      const ready = shown.data?.status.conditions.find(({ type }) => type === "Ready");
      if (ready?.status !== "False") wrong.push(`${name}: ${JSON.stringify(ready)}`);
    }
    return outcomeOf(wrong, "each has Ready=False, with the path of the field");
  },
};
