import { itDoesNotDiffer } from "../compared.fixture.ts";
import { jobs } from "./family.ts";

itDoesNotDiffer(jobs, 6);
