import { z } from "zod";
import { app } from "../app.ts";
import { builtin, listAll } from "@drover/kube";
import { twins } from "../twins.ts";

const portSchema = z.object({ port: z.coerce.number() });

const firstPort = 8000;
const lowestFree = (taken: readonly number[], port = firstPort): number =>
  taken.includes(port) ? lowestFree(taken, port + 1) : port;

/** Which ports are given away is kept in memory: the next process gives them away again. */
export const { broken, right } = twins(
  {
    name: "counter in memory",
    except: { "with the labels of": "a port in another owner's object counts as taken, too" },
    steps: [{ apply: app({}, "a") }, { apply: app({}, "b") }],
  },
  (isRight, { client }) => {
    let next = firstPort;
    return async ({ metadata }, children) => {
      const { name, namespace } = metadata;
      const there = await children.own(name);
      if (there !== undefined) return {};
      const all = await listAll(client, builtin.configMap, { namespace, labelSelector: "app" });
      const taken = all.map((one) => portSchema.parse(one["data"]).port);
      const port = isRight ? lowestFree(taken) : next;
      await children.create(name, { port: String(port) });
      next = port + 1;
      return {};
    };
  },
);
