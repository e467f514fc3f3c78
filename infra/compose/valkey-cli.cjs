#!/usr/local/bin/node
// Stands in for `valkey-cli -e ping` in the image of Valkey that is made here: the wheel has no valkey-cli.
const { connect } = require("node:net");

const socket = connect({ host: "127.0.0.1", port: 6379 }, () => socket.write("PING\r\n"));
socket.setTimeout(2500, () => socket.destroy(new Error("no answer")));
socket.on("error", (error) => {
  console.error(String(error));
  process.exitCode = 1;
});
socket.once("data", (reply) => {
  process.stdout.write(reply);
  process.exitCode = String(reply) === "+PONG\r\n" ? 0 : 1;
  socket.end();
});
