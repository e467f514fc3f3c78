import { objectKey } from "@drover/controller";
import { builtin, connect, type KubeClient, refOf } from "@drover/kube";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kubernetesAccess, type ReadAccess, type ReadOf } from "./read-access.ts";
