/** Everything that a page may need from the start; charts load their library when one is seen. */
import "./answer-picker.js";
import "./chat-field.js";
import "./draft-keeper.js";
import "./labelled-spans.js";
import "./picture-field.js";
import "./rank-list.js";
import "./repeated-rows.js";
import "./slide-field.js";
import "./span-picker.js";
import "./token-strip.js";
import "./upload-progress.js";
import "./vega-chart.js";
import "./vote-form.js";
import "./weighed-board.js";
import "./yaml-editor.js";
import { startConditions } from "./conditions.js";
import { startCounters } from "./counters.js";
import { startHtmx } from "./htmx-glue.js";
import { startKeys } from "./keys.js";
import { startPage } from "./page.js";
import { startTheme } from "./theme.js";

startTheme();
startKeys();
startCounters();
startHtmx();
startConditions();
startPage();
