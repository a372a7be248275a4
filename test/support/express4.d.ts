// The types of Express 5 describe Express 4 closely enough for what the tests call.
declare module "express4" {
  export { default } from "express";
}
