import { createMarks } from '#core/repos'

/** The watches: marks in the table `watch`. */
export const watches = createMarks('watching', 'watch')
