// The program of pods in tests: answers HTTP with its name, is ready once the file $READY_FILE exists (or the variable is
// empty), and logs its signals.
import { existsSync } from "node:fs";
import { createServer } from "node:http";

const { HOST = "127.0.0.1", PORT = "0", NAME = "", READY_FILE = "", LEAVE_FILE = "" } = process.env;

const server = createServer((request, response) => {
  const isReady = READY_FILE === "" || existsSync(READY_FILE);
  response.statusCode = request.url === "/ready" && !isReady ? 503 : 200;
  response.setHeader("connection", "close").end(NAME);
});
server.listen(Number(PORT), HOST, () => console.log("listening"));

process.on("SIGTERM", () => {
  console.log("asked to leave");
  const looking = setInterval(() => {
    if (LEAVE_FILE !== "" && !existsSync(LEAVE_FILE)) return;
    clearInterval(looking);
    console.log("leaving");
    process.exit(0);
  }, 10);
});
