import { TerminalError } from "@drover/controller";
import { isApiError } from "@drover/kube";
import { applied } from "../app.ts";
import { says } from "../children.ts";
import { twins } from "../twins.ts";

/** That the object is there already, for it was made before, is taken for a failure for ever. */
export const { broken, right } = twins(
  { name: "already exists fails", steps: applied({ text: "Hi" }, { text: "Ho" }) },
  (isRight) =>
    async ({ metadata, spec, status }, children) => {
      const { name } = metadata;
      const data = { text: spec.text };
      if (status.child === undefined) {
        await children.create(name, data).catch(async (error: unknown) => {
          if (!isApiError(error, "AlreadyExists")) throw error;
          const there = await children.get(name);
          const isMine = isRight && there !== undefined && children.isMine(there);
          if (!isMine) throw new TerminalError(`There is a ConfigMap ${name} already.`);
        });
      }
      const there = await children.get(name);
      if (there === undefined) await children.create(name, data);
      else if (!children.isMine(there)) throw new TerminalError(`${name} belongs to another owner.`);
      else if (!says(there, data)) await children.say(name, data);
      return { status: { child: name } };
    },
);
