// Specs arrive compiled to Vega, so Vega-Lite stays on the server; the interpreter needs no eval.
export { parse, View, Warn } from "vega";
export { expressionInterpreter } from "vega-interpreter";
