// The price list that the differential tests hold against real routers, and the routers themselves.
import express5, { type RequestHandler } from "express";
import express4 from "express4";
import type { MiddlewareHandler } from "hono";
import { toMiddleware as forExpress } from "../../adapters/express-middleware.js";
import { toMiddleware as forHono } from "../../adapters/hono-middleware.js";
import type { Guard } from "../../src/guard.js";
import { createExpress, createHono, type Flags, type RouterUnderTest } from "./routers.js";

export const PRICES = {
  "GET /docs/*": "free",
  "GET /paid": "$1",
  "GET /Report/Daily": "$1",
  "GET /Report/:day": "$5",
  "GET /items/:id": "$1",
  "GET /a/b/c/:leaf": "$1",
  "GET /files/*": "$1",
  "GET /shop/sale": "$1",
  "GET /shop/:id": "$5",
  "GET /it's,a-b.c": "$1",
} as const;

/** A plain path of every key, and the bare prefix of the wildcard. */
export const PATHS = [
  ...["/paid", "/Report/Daily", "/Report/Monday", "/items/7", "/a/b/c/d", "/files", "/files/x/y.txt"],
  ...["/shop/sale", "/shop/9", "/it's,a-b.c", "/docs/x"],
];

const LOOSE: Flags = {};
const TIGHT: Flags = { strict: true, caseSensitive: true };
const NESTED = [TIGHT, LOOSE, { caseSensitive: true }] as const;

export interface RouterKind {
  readonly name: string;
  /** It resolves dot segments, so what stands before a path can lead to it. */
  readonly resolvesDots?: true;
  /** With the middleware that the framework's adapter makes of the guard, or without any. */
  create(guard?: Guard): RouterUnderTest;
}

const express =
  (create: typeof express5, flags: Flags, nested?: readonly [Flags, Flags, Flags]) =>
  (guard?: Guard): RouterUnderTest =>
    createExpress(create, flags, nested, guard && (forExpress(guard) as RequestHandler));

const hono =
  (flags: Flags) =>
  (guard?: Guard): RouterUnderTest =>
    createHono(flags, guard && (forHono(guard) as MiddlewareHandler));

export const ROUTERS: readonly RouterKind[] = [
  { name: "Express 5", create: express(express5, LOOSE) },
  { name: "Express 5, strict routing", create: express(express5, { strict: true }) },
  { name: "Express 5, case sensitive", create: express(express5, { caseSensitive: true }) },
  { name: "Express 5, mounted routers with flags of their own", create: express(express5, LOOSE, NESTED) },
  { name: "Express 5, strict, mounted routers loose", create: express(express5, TIGHT, [LOOSE, TIGHT, LOOSE]) },
  { name: "Express 4", create: express(express4, LOOSE) },
  { name: "Express 4, strict and case sensitive", create: express(express4, TIGHT) },
  { name: "Express 4, mounted routers with flags of their own", create: express(express4, LOOSE, NESTED) },
  { name: "Hono", resolvesDots: true, create: hono({ strict: true }) },
  { name: "Hono, not strict", resolvesDots: true, create: hono({ strict: false }) },
];
