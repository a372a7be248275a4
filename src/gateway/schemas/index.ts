// Every shape of the gateway's API: validates requests, types answers, and makes the OpenAPI document.
export * from "./admin.js";
export * from "./error.js";
export * from "./events.js";
export * from "./fields.js";
export * from "./receive.js";
export * from "./records.js";
export * from "./send.js";
export * from "./system.js";
