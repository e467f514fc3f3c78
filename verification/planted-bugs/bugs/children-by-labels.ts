import { builtin, listAll } from "@drover/kube";
import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** Whatever carries the labels is counted, and deleted when there are too many, even under another controller. */
export const { broken, right } = twins(
  { name: "children by labels", steps: applied({ size: 2 }, { size: 1 }) },
  (isRight, { client }) =>
    async ({ metadata, spec }, children) => {
      const { name, namespace } = metadata;
      const wanted = Array.from({ length: spec.size }, (_, i) => `${name}-${i}`);
      for (const each of wanted) await children.ensure(each, { text: spec.text });
      const labelled = await listAll(client, builtin.configMap, {
        namespace,
        labelSelector: `app=${name}`,
      });
      const counted = labelled.filter((one) => (isRight ? children.isMine(one) : true));
      for (const one of counted) {
        if (!wanted.includes(one.metadata.name)) await children.delete(one);
      }
      return {};
    },
);
