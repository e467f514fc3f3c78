import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";
import { secret } from "../../harness/manifests.ts";
import { type Attack, outcomeOf } from "../attack.ts";

const deploy = new URL("../../../functions/s3-bucket/deploy/", import.meta.url);
const manifestSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
});

export const attack: Attack = {
  name: "a bucket function of one namespace that is taken over reads no Secret of another",
  kind: "rights beyond what is needed",
  needs: ["cluster"],
  async run({ cluster }) {
    const at = cluster();
    const manifest = manifestSchema.parse(
      parse(await readFile(new URL("namespaced/function.yaml", deploy), "utf8")),
    );
    const { name, namespace } = manifest.metadata;
    const [own, other] = [await at.namespace(namespace), await at.namespace("payroll")];
    const keys = (where: string) => secret("keys", { accessKeyId: `canary-of-${where}` }, where);
    await at.apply([keys(own), keys(other)]);
    await at.kubectl(["apply", "-f", new URL("crd.yaml", deploy).pathname]);
    const author = await at.kubeconfigOf({ user: "storage-author", groups: ["system:masters"] });
    await at.apply([manifest], { as: author });
    await at.permitted(own, name, author);
    const as = await at.until("the function has its account", () =>
      at.kubeconfigOfAccount(own, name).catch(() => undefined),
    );
    const got = (...args: readonly string[]): Promise<string> =>
      at.kubectl(["get", "secrets", "-o", "jsonpath={..data.accessKeyId}", ...args], { as }).catch(() => "");
    // Its own it needs: without them it would do nothing, and the attack would prove nothing.
    await at.until("the function reads the Secrets of its namespace", () => got("keys", "-n", own));
    const tries = [
      ["keys", "-n", other],
      ["-A"],
      ["-n", other],
      ["-n", own],
      ["-n", "drover", "deployer-redis"],
    ];
    const read: string[] = [];
    for (const one of tries) if ((await got(...one)) !== "") read.push(one.join(" "));
    return outcomeOf(read, `reads keys in ${own} by its name, and nothing else of ${tries.length} tries`);
  },
};
