/** Colours, on terminals only; https://no-color.org is heeded. */
import { styleText } from 'node:util'
import type { Terminal } from './terminal.ts'

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Gives text a style where the output shows one, and leaves it as it is elsewhere. */
export function styleOf(
  { env, ...outputs }: Terminal,
  output: 'stdout' | 'stderr' = 'stdout',
): (style: Style, text: string) => string {
  const isPlain = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  if (isPlain || outputs[output].isTTY !== true) return (_style, text) => text
  return (style, text) => styleText(style, text, { validateStream: false })
}
