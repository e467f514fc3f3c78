import type { KubeObject } from "@drover/kube";
import { z } from "zod";
import { app, configMapKind } from "../app.ts";
import { twins } from "../twins.ts";

const dataSchema = z.record(z.string(), z.string()).default({});

/** To rename a child, the old one is deleted before the new one is created: in between, the data is lost. */
export const { broken, right } = twins(
  {
    name: "delete, then create",
    except: {
      "x deleted": "what was written into it by hand is gone with it",
      "y deleted": "what was written into it by hand is gone with it",
    },
    steps: [
      { apply: app({ child: "x" }) },
      {
        title: "another client writes into the child",
        act: (user) =>
          user.apply({ ...configMapKind, metadata: { name: "x" }, data: { written: "by hand" } }),
      },
      { apply: app({ child: "y" }) },
    ],
  },
  (isRight) =>
    async ({ spec }, children) => {
      const there = await children.mine();
      const old = there.filter(({ metadata: { name } }) => name !== spec.child);
      const drop = async (all: readonly KubeObject[]): Promise<void> => {
        for (const one of all) await children.delete(one);
      };
      if (!isRight) await drop(old);
      if (there.length === old.length)
        await children.create(spec.child, dataSchema.parse(old.at(0)?.["data"]));
      if (isRight) await drop(old);
      return {};
    },
);
