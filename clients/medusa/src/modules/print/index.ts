import { Module } from "@medusajs/framework/utils";

import PrintService from "./service";

export const PRINT = "print";

export default Module(PRINT, { service: PrintService });
