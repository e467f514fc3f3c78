// Who is put in place of kube-controller-manager's two controllers.

export interface Running {
  stop(): Promise<void>;
}

export interface Subject {
  readonly name: string;
  /** Which controllers kube-controller-manager runs beside it. */
  readonly controllers: readonly string[];
  /** Starts what reconciles the cluster of a kubeconfig. */
  start(kubeconfig: string): Promise<Running>;
}

const nothing: Running = { stop: () => Promise.resolve() };

/** What all others are measured by; and, as its own subject, what measures the measuring. */
export const reference: Subject = {
  name: "kube-controller-manager",
  controllers: ["*"],
  start: () => Promise.resolve(nothing),
};

/** One that takes the place of both controllers. */
export const inPlaceOfBoth = (name: string, start: Subject["start"]): Subject => ({
  name,
  controllers: ["*", "-deployment-controller", "-replicaset-controller"],
  start,
});

/** Does nothing at all: whoever is compared with it must be found to differ. */
export const nobody: Subject = inPlaceOfBoth("nobody", () => Promise.resolve(nothing));
