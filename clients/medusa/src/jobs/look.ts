import { look } from "../print/look";

export default look;

/** Without a message queue an event ends with its process; five minutes later this finds what it was about. */
export const config = { name: "store-fulfillment-look", schedule: "*/5 * * * *" };
