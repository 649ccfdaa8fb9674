/**
 * Events, jobs and schedules. PostgreSQL is the record; BullMQ (on PostgreSQL, or on Redis) only carries pointers to
 * it, so that a lost queue costs seconds and no data.
 *
 * - An event is an outbox row of the transaction that published it. `inside` listeners ran in that transaction. After
 *   the commit the relay (relay.ts; one process at a time) files one `event_delivery` for each live `after` listener,
 *   in id order; each listener's deliveries are drained by one process at a time (leases.ts, drain.ts), in order. A
 *   delivery that fails holds back only later ones of its subject (subject.ts) and is given up after ten attempts.
 * - A job is a `job_record` of the transaction that enqueued it (jobs.ts). It is handed to the queue after the commit
 *   (handing.ts), counted at each start and finished only by the worker (runner.ts). Attempts and pauses are kept in the
 *   record. A late one that the queue does not know is handed over again under a new round; an older round does nothing.
 * - A schedule's tick comes from BullMQ's JobScheduler and becomes a job, once for all processes (schedules.ts).
 * - Delivery is at least once: kill -9 at any point repeats what was in flight and loses nothing. Handlers must bear it.
 * - Listeners, jobs and schedules come and go with their plugins. What is recorded for one that is off waits for it;
 *   events that happen meanwhile do not reach it, unless it listens `whileOff`.
 * - Order matters at the ends: start after the plugins have started, stop before they stop.
 */
export * from './declare.ts'
export type { WorkOptions } from './engine.ts'
export { workEntities } from './entities.ts'
export { type EnqueueOptions, Jobs } from './jobs.ts'
export { workMigrations } from './migrations.ts'
export type { WorkLog } from './retry.ts'
export { rhythmOf } from './rhythm.ts'
export type { Retention, WorkCounts } from './sweep.ts'
export { createWork, type Role, type Undo, type Work } from './work.ts'
