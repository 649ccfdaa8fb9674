import type { TSchema } from '@sinclair/typebox'
import type { AliasedRawBuilder, Expression, RawBuilder } from 'kysely'
import { service } from '../plugin/index.ts'

/**
 * Fields that a plugin adds to the records of others. Each is an SQL expression over the plugin's own tables,
 * so that a record, or a page of fifty, is still one query.
 */
export type Presenter = {
  /** Name of the record: `Repository`, `User`. */
  readonly record: string
  readonly fields: Readonly<Record<string, PresentedField>>
}

export type PresentedField = {
  readonly schema: TSchema
  /** The value while the plugin is off. */
  readonly off: unknown
  /** Given an expression for the record's id. Without it the field is `off` for ever: nobody counts it yet. */
  readonly value?: (id: Expression<number>) => RawBuilder<unknown>
}

/** All presenters of the plugins that ship, and which of them are on. */
export type Presenters = {
  /** Schemas of the fields added to a record. Known at boot, on or off. */
  schemas(record: string): Record<string, TSchema>
  /** Changes whenever a plugin that presents is turned on or off: compiled queries are kept by it. */
  state(): string
  /** Columns to select beside a record: `<alias>__<field>` for every field whose plugin is on. */
  columns(record: string, id: Expression<number>, alias: string): AliasedRawBuilder<unknown, string>[]
  /** The added fields of a selected row; what was not selected has its `off` value. */
  facts(record: string, row: object, alias: string): Record<string, unknown>
}

export const Presenters = service<Presenters>('db.presenters')

type Registered = { readonly presenter: Presenter; readonly isOn: () => boolean }

/** Collects presenters. Two that add the same field to one record are a mistake. */
export function createPresenters(registered: readonly Registered[]): Presenters {
  const fields = new Map<string, { name: string; field: PresentedField; isOn: () => boolean }[]>()
  for (const { presenter, isOn } of registered) {
    const known = fields.get(presenter.record) ?? []
    for (const [name, field] of Object.entries(presenter.fields)) {
      if (known.some((other) => other.name === name)) throw new Error(`two plugins present ${presenter.record}.${name}`)
      known.push({ name, field, isOn })
    }
    fields.set(presenter.record, known)
  }
  const of = (record: string) => fields.get(record) ?? []
  return {
    state: () => registered.map(({ isOn }) => (isOn() ? '1' : '0')).join(''),
    schemas: (record) => Object.fromEntries(of(record).map(({ name, field }) => [name, field.schema])),
    columns: (record, id, alias) =>
      of(record).flatMap(({ name, field, isOn }) =>
        field.value && isOn() ? [field.value(id).as(`${alias}__${name}`)] : [],
      ),
    facts(record, row, alias) {
      const facts: Record<string, unknown> = {}
      for (const { name, field } of of(record)) {
        const value = (row as Record<string, unknown>)[`${alias}__${name}`]
        facts[name] = value === undefined ? field.off : value
      }
      return facts
    },
  }
}
