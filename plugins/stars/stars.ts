import { createMarks } from '#core/repos'

/** The stars: marks in the table `star`. */
export const stars = createMarks('stars', 'star')
