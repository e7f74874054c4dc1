/** What every page needs from the start; parts.js loads the elements that few pages have. */
import "./draft-keeper.js";
import "./token-strip.js";
import { startConditions } from "./conditions.js";
import { startCountdown } from "./countdown.js";
import { startCounters } from "./counters.js";
import { startFieldErrors } from "./field-errors.js";
import { startHtmx } from "./htmx-glue.js";
import { startKeys } from "./keys.js";
import { startPage } from "./page.js";
import { startPalette } from "./palette.js";
import { startParts } from "./parts.js";
import { startPasswords } from "./show-password.js";
import { startTheme } from "./theme.js";

startTheme();
startParts();
startKeys();
startCounters();
startCountdown();
startFieldErrors();
startHtmx();
startConditions();
startPage();
startPalette();
startPasswords();
