/** A time that was never or that nobody may know, as the API writes it. */
export const never = '0001-01-01T00:00:00Z'

/** RFC 3339 in whole seconds, as the API writes all times. */
export const wireTime = (time: Date) => `${time.toISOString().slice(0, 19)}Z`
