import { podContract } from "./pods.contract.ts";
import { startClient } from "./testing/client.ts";

podContract(async () => {
  const api = await startClient();
  return { ...api, text: async (path) => (await fetch(api.url + path)).text() };
});
