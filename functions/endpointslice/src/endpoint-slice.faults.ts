import { faultScenario, type FunctionUnderTest, type User } from "@drover/testing";
import { endpointSliceController } from "./endpoint-slice-controller.ts";
import deployedAs from "./function.ts";
import { node, pod, pods, service, services, withAddress, writePod } from "./testing/services.ts";

/** A run that was interrupted has published some of the changes, so another one records fewer of them. */
const uncompared = {
  "metadata.annotations.endpoints.kubernetes.io/last-change-trigger-time":
    "it is of the changes of the last run",
};
const loses =
  "a slice that is used for other endpoints loses what other clients have added, as with kube-controller-manager";

const deletes =
  "a slice with these labels that is not the Service's is deleted, as by kube-controller-manager";

/** Two endpoints fill a slice. */
const start: FunctionUnderTest = ({ now }) => endpointSliceController({ now, maxEndpointsPerSlice: 2 });

const names = ["p1", "p2", "p3"];
const given = [node("node-a", "zone-1"), ...names.map((name) => pod(name))];

/** Does what a kubelet does: the first pods are ready, the others are not. */
const ready = (count: number) => ({
  title: `${count} pods are ready`,
  act: async (user: User) => {
    for (const [i, name] of names.entries())
      await writePod(user, name, withAddress([`10.0.0.${i + 1}`, `fd00::${i + 1}`], i < count));
  },
});
const relabel = (app: string) => ({
  title: `a pod gets the label ${app}`,
  act: (user: User) => user.patch(pods, "p1", { metadata: { labels: { app } } }),
});

export const published = faultScenario({
  name: "pods of a Service become ready and unready, cease to match, and the Service goes",
  start,
  deployedAs,
  uncompared,
  except: {
    "endpointslices.discovery.k8s.io default/* deleted": "its endpoints go to the slices that have room",
    "an object of another controller with the labels of endpointslices": deletes,
    "another client changes the object just before write 4": loses,
    "another client changes the object just before write 6": loses,
  },
  given,
  steps: [
    { apply: service({ ipFamilyPolicy: "PreferDualStack" }) },
    ready(3),
    ready(1),
    relabel("other"),
    relabel("web"),
    { delete: { ...services, name: "web" } },
  ],
});

export const repurposed = faultScenario({
  name: "a Service gets other ports, and its slices are used for them",
  start,
  deployedAs,
  uncompared,
  except: {
    "an object of another controller with the labels of endpointslices": deletes,
    "another client changes the object": loses,
  },
  given,
  steps: [
    { apply: service() },
    ready(3),
    { apply: service({ ports: [{ name: "web", port: 81, targetPort: 9090 }] }) },
    { apply: service({ selector: { app: "nothing" } }) },
  ],
});
