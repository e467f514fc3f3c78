import { itDoesNotDiffer } from "./compared.fixture.ts";
import { deployments } from "./deployments/family.ts";

itDoesNotDiffer(deployments, 8);
