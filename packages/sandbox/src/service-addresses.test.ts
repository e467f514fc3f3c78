import { serviceAddressContract } from "./service-addresses.contract.ts";
import { startClient } from "./testing/client.ts";

serviceAddressContract(async () => {
  const api = await startClient();
  return { ...api, text: async (path) => (await fetch(api.url + path)).text() };
});
