// What the pods of a story run: a server that is ready unless it is told not to be.
import { createServer } from "node:http";

const ready = process.env["READY"] !== "no";
createServer((_, answer) => answer.writeHead(ready ? 200 : 503).end()).listen(8080);
process.once("SIGTERM", () => process.exit());
