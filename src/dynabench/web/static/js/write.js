/** Elements with which people write, mark, rate and send. */
import "./active-time.js";
import "./answer-picker.js";
import "./chat-field.js";
import "./image-zoom.js";
import "./labelled-spans.js";
import "./media-upload.js";
import "./picture-field.js";
import "./rank-list.js";
import "./region-picker.js";
import "./repeated-rows.js";
import "./slide-field.js";
import "./span-picker.js";
import "./text-layers.js";
import "./upload-progress.js";
import "./used-suggestion.js";
import "./vote-form.js";
import "./writing-counts.js";
