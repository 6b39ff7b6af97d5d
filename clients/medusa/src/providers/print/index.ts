import { ModuleProvider, Modules } from "@medusajs/framework/utils";

import PrintProvider from "./service";

export default ModuleProvider(Modules.FULFILLMENT, { services: [PrintProvider] });
