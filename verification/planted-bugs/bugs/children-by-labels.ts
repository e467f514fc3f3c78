import { defineController } from "@drover/controller";
import { builtin, listAll } from "@drover/kube";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { twins } from "../twins.ts";

/** Whatever carries the labels is counted, and deleted when there is too much of it; whoever controls it. */
export const { broken, right } = twins(
  { name: "children by labels", steps: [{ apply: app({ size: 2 }) }, { apply: app({ size: 1 }) }] },
  (isRight) =>
    ({ client }) =>
      defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec } = context;
          const { name, namespace } = metadata;
          const children = childrenOf(client, context);
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
      }),
);
