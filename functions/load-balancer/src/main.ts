import { runFunction } from "drover/runtime";
import { functionConfig } from "./config.ts";
import { elbPorts } from "./elb/elb-port.ts";
import { loadBalancerController } from "./load-balancer-controller.ts";

await runFunction({
  name: "load-balancer",
  settings: functionConfig,
  controller: (settings) => {
    const ports = elbPorts(settings);
    return { controller: loadBalancerController(ports), close: () => ports.close() };
  },
});
