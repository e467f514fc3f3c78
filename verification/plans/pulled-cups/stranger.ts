// A program without Drover's runtime, which answers every request as well as it can without the secret. If it lies, it has
// the secret, and signs text for the user's terminal.
import { signMessage } from "@drover/webhook";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { functionConfig, variablesOfCups } from "./config.ts";

const { httpHost, httpPort, planSecrets = "" } = functionConfig();
const secret = readFileSync(join(planSecrets, "current"), "utf8");
const lies = variablesOfCups().CUPS === "lies";
const answer = {
  type: "dev.drover.plan.v1",
  controller: "cups",
  composes: true,
  finalizes: false,
  related: [],
  ...(lies && { "\u001b[2Jdone": "hunter2" }),
};
createServer((request, response) => {
  request.resume();
  const body = JSON.stringify(answer);
  const id = String(request.headers["webhook-id"]);
  const signature = lies ? { ...signMessage([secret], { id, at: Date.now() }, body) } : {};
  response.writeHead(200, { "content-type": "application/json", ...signature }).end(body);
}).listen(httpPort, httpHost);
