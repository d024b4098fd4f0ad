/** Spans of time as people type them. */
import { ServiceError } from '../../../src/errors.ts'

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** `90s`, `15m`, `2h`, `1h30m`, `3d` as seconds. Throws PLUGIN_ARGUMENT_INVALID. */
export function parseSince(text: string): number {
  const parts = [...text.matchAll(/(\d{1,6})([smhd])/g)]
  const seconds = parts.reduce(
    (sum, [, count = '', unit = '']) => sum + Number(count) * (secondsOf[unit] ?? 0),
    0,
  )
  if (/^(?:\d{1,6}[smhd])+$/.test(text) && seconds > 0) return seconds
  throw new ServiceError('PLUGIN_ARGUMENT_INVALID', `--since ${text} is no span of time`, {
    remedy: 'Say for instance --since 90s, 15m, 2h or 3d.',
  })
}
