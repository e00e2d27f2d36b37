/** The number of lives in every `npm test`. */
export const LIVES = 480;
