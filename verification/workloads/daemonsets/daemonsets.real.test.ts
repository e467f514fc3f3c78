import { itDoesNotDiffer } from "../compared.fixture.ts";
import { daemonSets } from "./family.ts";

itDoesNotDiffer(daemonSets, 4);
