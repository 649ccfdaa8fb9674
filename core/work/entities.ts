import { defineEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../db/index.ts'

/** One event for one listener. Open until done_at or dead_at is set. */
export const EventDelivery = defineEntity({
  name: 'EventDelivery',
  tableName: 'event_delivery',
  indexes: [
    {
      name: 'event_delivery_open',
      expression:
        'create index event_delivery_open on event_delivery (listener, event_id) where done_at is null and dead_at is null',
    },
  ],
  properties: {
    /** The outbox row. No foreign key: the sweep removes both in the right order. */
    event_id: p.bigint('number').primary(),
    listener: p.string().primary(),
    /** Events of one subject are handled one after the other; see subject.ts. */
    subject: p.string().default(''),
    attempts: p.integer().default(0),
    due_at: p.datetime().defaultRaw('now()'),
    last_error: p.text().nullable(),
    done_at: p.datetime().nullable(),
    /** Given up; kept for the operator. */
    dead_at: p.datetime().nullable(),
  },
})

/** Which process drains a listener at present. */
export const ListenerLease = defineEntity({
  name: 'ListenerLease',
  tableName: 'listener_lease',
  properties: {
    listener: p.string().primary(),
    owner: p.string(),
    held_until: p.datetime(),
  },
})

/** A job: the record that the queue only points to. Open until done_at or dead_at is set. */
export const JobRecord = defineEntity({
  name: 'JobRecord',
  tableName: 'job_record',
  indexes: [
    {
      name: 'job_record_open',
      expression: 'create index job_record_open on job_record (id) where done_at is null and dead_at is null',
    },
  ],
  uniques: [
    {
      name: 'job_record_once',
      expression:
        'create unique index job_record_once on job_record (name, once_key) where attempts = 0 and done_at is null and dead_at is null',
    },
  ],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    name: p.string(),
    payload: p.json(),
    /** Collapses with another job of this name and key that has not started. */
    once_key: p.string().nullable(),
    /** Times that it was started. */
    attempts: p.integer().default(0),
    /** Times that it was handed to the queue. What an older round still does there no longer counts. */
    round: p.integer().default(0),
    due_at: p.datetime().defaultRaw('now()'),
    /** Null: must be handed to the queue. */
    handed_at: p.datetime().nullable(),
    created_at: p.datetime().defaultRaw('now()'),
    last_error: p.text().nullable(),
    done_at: p.datetime().nullable(),
    dead_at: p.datetime().nullable(),
  },
})

/** The last tick of a schedule that became a job. */
export const ScheduleTick = defineEntity({
  name: 'ScheduleTick',
  tableName: 'schedule_tick',
  properties: {
    schedule: p.string().primary(),
    last_at: p.datetime(),
  },
})

export const workEntities = [EventDelivery, ListenerLease, JobRecord, ScheduleTick] as const

export type WorkTables = TablesOf<(typeof workEntities)[number]>
