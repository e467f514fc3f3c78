import { faultScenario, type FunctionUnderTest } from "drover/testing";
import { elbConfigSchema } from "./config.ts";
import { elbPorts } from "./elb/elb-port.ts";
import deployedAs from "./function.ts";
import { loadBalancerController } from "./load-balancer-controller.ts";
import { emptyAws } from "./testing/aws-world.ts";
import { keys, loadBalancer, node, service } from "./testing/manifests.ts";

const start: FunctionUnderTest = ({ outside }) => {
  const ports = elbPorts(elbConfigSchema.parse({ elbEndpoint: outside["aws"], elbTimeout: "5s" }));
  return { controllers: [loadBalancerController(ports)], close: () => ports.close() };
};

const outside = async () => {
  const world = await emptyAws();
  return { ...world, urls: { aws: world.url } };
};

const [first = "", second = ""] = (await emptyAws()).subnets;
const web = { subnets: [first, second], tags: { team: "a" }, crossZone: true };
const dns = { name: "dns", port: 53, targetPort: 53, nodePort: 30053, protocol: "UDP" };
const http = { name: "http", port: 80, targetPort: 8080, nodePort: 30080, protocol: "TCP" };

const goes = { delete: { apiVersion: "elb.drover.dev/v1alpha1", kind: "LoadBalancer", name: "web" } };

/** A load balancer comes, follows its Service, and goes. */
export const served = faultScenario({
  name: "a load balancer is made, follows its Service, and is deleted with its object",
  start,
  deployedAs,
  outside,
  given: [keys, node("a"), service([http])],
  steps: [{ apply: loadBalancer({ subnets: [first, second] }) }, { apply: service([dns]) }, goes],
});

/** Everything that changes does so. */
export const followed = faultScenario({
  name: "a load balancer follows its Service, the nodes and its spec, and is deleted with its object",
  start,
  deployedAs,
  outside,
  given: [keys, node("a"), node("b"), service([http])],
  steps: [
    { apply: loadBalancer(web) },
    { apply: service([http, dns]) },
    { apply: node("c") },
    {
      apply: loadBalancer({
        ...web,
        tags: { team: "b" },
        crossZone: false,
        healthCheck: { protocol: "HTTP" },
      }),
    },
    { apply: service([dns]) },
    goes,
  ],
});

export default served;
