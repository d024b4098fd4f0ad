/** The levels of the log and what they mean. */

/** `error` = a person must act; `warn` = degraded but handled; `info` = life cycle; `debug` = each step. */
export const logLevels = ['error', 'warn', 'info', 'debug', 'trace'] as const

export type LogLevel = (typeof logLevels)[number]
