/** Text of a stranger as a comment that it cannot leave. */
import { toSingleLine } from '../cli/print.ts'

/** A JSDoc comment with a line end behind it; tags and directives for compilers are text in it. */
export function docComment(text: string, indent = ''): string {
  const lines = text.split(/\r\n?|\n/).map(commentLine)
  const first = lines.findIndex((line) => line !== '')
  const shown = first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => line !== '') + 1)
  const [only = '', ...more] = shown
  if (more.length === 0) return `${indent}/** ${only} */\n`
  const body = shown.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')
  return `${indent}/**\n${body}\n${indent} */\n`
}

function commentLine(line: string): string {
  return toSingleLine(line.toWellFormed()).trim().replaceAll('*/', '*\\/').replaceAll('@', '\\@')
}
