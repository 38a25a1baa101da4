// What every page has.

import { startChime } from "./chime.js";
import { startCopying } from "./copy.js";
import { startKeys } from "./keys.js";
import { startLinks } from "./links.js";
import { startRaw } from "./raw.js";
import { startStuck } from "./stuck.js";
import { startTimes } from "./time.js";
import { startVersion } from "./version.js";

startStuck();
startTimes();
startCopying();
startRaw();
startKeys();
startLinks();
startVersion();
startChime();
