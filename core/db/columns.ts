/**
 * Two rows in one query: `prefixed('owner', accountColumns)` selects `owner.name as owner__name` and so on,
 * and `unprefixed(row, 'owner')` gives the second row back.
 */
export function prefixed<A extends string, C extends string>(alias: A, columns: readonly C[]) {
  return columns.map((column) => `${alias}.${column} as ${alias}__${column}` as const)
}

/** The row behind a prefix, without it; undefined when its `id` is null (an outer join that found nothing). */
export function unprefixed<Row>(row: object, alias: string): Row | undefined {
  const start = `${alias}__`
  const found: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(row)) if (key.startsWith(start)) found[key.slice(start.length)] = value
  return found.id === null ? undefined : (found as Row)
}
