import { inspect } from "node:util";
import { type Attack, outcomeOf } from "../attack.ts";
import { callOf } from "./answering.ts";

const canary = "canary-user-admin-token-abc";

/** The address is one inside the cluster that the author cannot reach; the words would stand in the Ready condition. */
export const attack: Attack = {
  name: "the text of an unsigned answer is shown nowhere",
  kind: "server-side request forgery, reflected",
  needs: [],
  async run() {
    const shown = new Set<string>();
    for (const status of [200, 202, 302, 400, 403, 404, 409, 418, 429, 500, 503]) {
      for (const type of ["text/plain", "application/json", "text/html"]) {
        const headers = { "content-type": type, location: `http://${canary}/`, "x-internal": canary };
        for (const body of [canary, JSON.stringify({ message: canary, reason: canary, account: canary })]) {
          const came = await callOf({ status, body, headers, isSigned: false });
          if (inspect(came, { depth: null }).includes(canary)) shown.add(`${status} ${type}`);
        }
      }
    }
    return outcomeOf([...shown], "words of an internal service are in the error of no answer");
  },
};
