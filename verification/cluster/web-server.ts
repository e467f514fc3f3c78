// The container of a story's Pods: a server that is ready unless its environment disables it.
import { createServer } from "node:http";

const ready = process.env["READY"] !== "no";
createServer((_, answer) => answer.writeHead(ready ? 200 : 503).end()).listen(8080);
process.once("SIGTERM", () => process.exit());
