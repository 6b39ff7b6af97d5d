import { Migration } from "@medusajs/framework/mikro-orm/migrations";

const KEPT = `"created_at" timestamptz not null default now(), "updated_at" timestamptz not null default now(), "deleted_at" timestamptz null`;

export class Migration20261124000000 extends Migration {
  override async up(): Promise<void> {
    this.addSql(`create table if not exists "print_product" ("id" text not null, "variant_id" text not null, "store_id" text not null, "product_id" text not null, "pieces" integer not null, "fields" jsonb not null, ${KEPT}, constraint "print_product_pkey" primary key ("id"));`);
    this.addSql(`create unique index if not exists "IDX_print_product_variant_id_unique" on "print_product" ("variant_id") where deleted_at is null;`);

    this.addSql(`create table if not exists "print_order" ("id" text not null, "order_id" text not null, "external_id" text not null, "fulfillment_id" text null, "claimed_at" timestamptz null, "lines" text not null, "state" text check ("state" in ('open', 'held', 'placed', 'ended')) not null default 'open', "problem" text null, "store_id" text not null, "print_order_id" text null, "print_order_number" text null, "status" integer null, "status_name" text null, "sequence" integer not null default 0, "is_test" boolean not null default false, "currency" text null, "total" text null, "shipments" jsonb null, "cancellation" text null, ${KEPT}, constraint "print_order_pkey" primary key ("id"));`);
    this.addSql(`create index if not exists "IDX_print_order_order_id" on "print_order" ("order_id") where deleted_at is null;`);
    this.addSql(`create unique index if not exists "IDX_print_order_external_id_unique" on "print_order" ("external_id") where deleted_at is null;`);

    this.addSql(`create table if not exists "print_quote" ("id" text not null, "quote_id" text not null, "option_id" text not null, "currency" text not null, "total" text not null, "surcharge" text not null, "expires_at" timestamptz not null, ${KEPT}, constraint "print_quote_pkey" primary key ("id"));`);

    this.addSql(`create table if not exists "print_contact" ("id" text not null, "at" timestamptz not null, "cursor" text null, "problem" text null, ${KEPT}, constraint "print_contact_pkey" primary key ("id"));`);

    for (const table of ["print_product", "print_order", "print_quote", "print_contact"]) {
      this.addSql(`create index if not exists "IDX_${table}_deleted_at" on "${table}" ("deleted_at") where deleted_at is null;`);
    }
  }

  override async down(): Promise<void> {
    for (const table of ["print_product", "print_order", "print_quote", "print_contact"]) {
      this.addSql(`drop table if exists "${table}" cascade;`);
    }
  }
}
