import type { Context, InferTypeOf } from "@medusajs/framework/types";
import type { SqlEntityManager } from "@medusajs/framework/mikro-orm/knex";
import { InjectTransactionManager, MedusaContext, MedusaError, MedusaService } from "@medusajs/framework/utils";

import { PrintContact, PrintOrder, PrintProduct, PrintQuote } from "./models/print";

export type PrintOrderRow = InferTypeOf<typeof PrintOrder>;
export type OrderChanges = Partial<PrintOrderRow> & Pick<PrintOrderRow, "sequence">;
export type PrintProductRow = InferTypeOf<typeof PrintProduct>;
export type PrintQuoteRow = InferTypeOf<typeof PrintQuote>;

/** Longer than all tries of one call together. */
const CLAIM_MINUTES = 3;

export interface Claim {
  order_id: string;
  fulfillment_id: string;
  store_id: string;
  /** Line item by quantity. */
  lines: Record<string, number>;
  /** How much of each line item the buyer ordered. */
  ordered: Record<string, number>;
  /** The fulfilments that Medusa has on the order. */
  linked: string[];
}

export default class PrintService extends MedusaService({ PrintProduct, PrintOrder, PrintQuote, PrintContact }) {
  /**
   * The row under which these lines are ordered: that of an earlier try that did not end, else a new one. A placed one
   * whose fulfilment is not on the order comes from a process that was killed in between.
   */
  @InjectTransactionManager()
  async claim(claim: Claim, @MedusaContext() context: Context<SqlEntityManager> = {}): Promise<PrintOrderRow> {
    await lock(claim.order_id, context);
    const rows = await this.listPrintOrders({ order_id: claim.order_id }, {}, context);
    const lines = JSON.stringify(Object.entries(claim.lines).sort());
    const unfinished = rows.filter((row) => isUnfinished(row, claim.linked) && overlaps(row, claim.lines));
    const running = unfinished.find((row) => row.claimed_at && Date.now() - row.claimed_at.getTime() < CLAIM_MINUTES * 60_000);
    if (running) throw refusal(`The order ${running.external_id} is being placed; try again in ${CLAIM_MINUTES} minutes.`);
    const now = { fulfillment_id: claim.fulfillment_id, claimed_at: new Date() };
    const same = unfinished.find((row) => row.lines === lines);
    if (same) {
      const state = same.state === "held" ? "open" : same.state;
      return this.updatePrintOrders({ id: same.id, state, problem: null, ...now }, context);
    }
    const other = unfinished.find((row) => row.state !== "held");
    if (other) throw refusal(`The order ${other.external_id} may have arrived with other lines; retry it first.`);
    // Medusa reads what is left to fulfil long before it counts it: two starts at once both find everything left.
    const placed = rows.filter((row) => row.state === "placed");
    const excess = Object.entries(claim.lines).find(([id, quantity]) => quantity + total(placed, id) > (claim.ordered[id] ?? 0));
    if (excess) throw refusal(`This was ordered already, as ${placed.map((row) => row.external_id).join(", ")}.`);
    await this.deletePrintOrders(unfinished.map((row) => row.id), context);
    const number = Math.max(0, ...rows.map((row) => Number(row.external_id.split("-").at(-1)))) + 1;
    const { order_id, store_id } = claim;
    return this.createPrintOrders({ order_id, store_id, lines, external_id: `${order_id}-${number}`, ...now }, context);
  }

  /** What the store says of an order, unless something later is known: its responses may overtake each other. */
  @InjectTransactionManager()
  async recordChanges(
    id: string,
    changes: OrderChanges,
    @MedusaContext() context: Context<SqlEntityManager> = {},
  ): Promise<void> {
    await lock(id, context);
    const known = await this.retrievePrintOrder(id, {}, context);
    if (known.sequence <= changes.sequence) await this.updatePrintOrders({ id, ...changes }, context);
  }

  /** When there was contact, and what was wrong. */
  @InjectTransactionManager()
  async recordContact(
    contact: { id: string; problem?: string; cursor?: string },
    @MedusaContext() context: Context<SqlEntityManager> = {},
  ): Promise<void> {
    await lock(contact.id, context);
    const values = { ...contact, at: new Date(), problem: contact.problem ?? null };
    const [known] = await this.listPrintContacts({ id: contact.id }, {}, context);
    if (known) await this.updatePrintContacts(values, context);
    else await this.createPrintContacts(values, context);
  }
}

async function lock(name: string, context: Context<SqlEntityManager>): Promise<void> {
  await context.transactionManager?.execute("SELECT pg_advisory_xact_lock(hashtext(?))", [name]);
}

function isUnfinished(row: PrintOrderRow, linked: string[]): boolean {
  if (row.state === "placed") return row.fulfillment_id !== null && !linked.includes(row.fulfillment_id);
  return row.state !== "ended";
}

/** How much of a line is in these rows. */
export function total(rows: PrintOrderRow[], line: string): number {
  const lines = rows.flatMap((row) => JSON.parse(row.lines) as Array<[string, number]>);
  return lines.reduce((sum, [id, quantity]) => (id === line ? sum + quantity : sum), 0);
}

function overlaps(row: PrintOrderRow, lines: Record<string, number>): boolean {
  return (JSON.parse(row.lines) as Array<[string, number]>).some(([id]) => id in lines);
}

export function refusal(message: string): MedusaError {
  return new MedusaError(MedusaError.Types.NOT_ALLOWED, message);
}
